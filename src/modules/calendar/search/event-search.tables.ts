import { jsonBytes, textBytes } from '../../../platform/bounded-pages/page-bytes.js';
import type { SearchTables } from '../../../platform/search/search-tables.js';
import { EVENT_BYTES, OVERRIDES_BYTES } from '../event-bytes.js';

/**
 * The events whose details the user $2 sees, each with the calendar that gives the highest role.
 * @param isMaterialized for a search, which joins the same rows with every match; otherwise the condition of the query finds single events
 */
const readable = (isMaterialized: boolean): string => `(
    WITH own AS MATERIALIZED (
      SELECT access.calendar_id, max(access.role) AS role FROM calendar_access access
       WHERE access.tenant_id = $1 AND access.user_id = $2 GROUP BY access.calendar_id),
    readable AS ${isMaterialized ? '' : 'NOT '}MATERIALIZED (
      SELECT DISTINCT ON (entry.event_id) $1::uuid AS tenant_id, $2::uuid AS user_id, entry.event_id, entry.calendar_id,
             own.role, event.updated_at AS listed_at, event.status = 'cancelled' AS trashed
        FROM own
        JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = own.calendar_id
        JOIN calendar_entries entry
          ON entry.tenant_id = $1 AND entry.calendar_id = own.calendar_id AND NOT entry.hidden
        JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
       WHERE own.role >= 'reader'
         AND (event.visibility <> 'private' OR calendar.owner_id = $2 OR event.organizer_id = $2
              OR EXISTS (SELECT FROM event_participants participant
                          WHERE participant.tenant_id = $1 AND participant.event_id = event.id
                            AND participant.user_id = $2))
       ORDER BY entry.event_id, own.role DESC, entry.calendar_id)
    SELECT * FROM readable)`;
const READABLE = readable(true);

/** The rows of hits, as `EventRecord` and its calendar. */
const HITS = `(
    SELECT reader.tenant_id, reader.user_id, reader.event_id, reader.role, profile.locale,
           record.event, record.participants, record.overrides, row_to_json(calendar) AS calendar,
           json_build_object('show_as', entry.show_as, 'color', entry.color, 'reminders', entry.reminders,
                             'response', entry.response) AS entry
      FROM ${readable(false)} reader
      JOIN calendar_contexts calendar ON calendar.tenant_id = $1 AND calendar.id = reader.calendar_id
      JOIN calendar_entries entry
        ON entry.tenant_id = $1 AND entry.calendar_id = reader.calendar_id AND entry.event_id = reader.event_id
      JOIN event_records record ON record.tenant_id = $1 AND record.id = reader.event_id
      LEFT JOIN member_locales profile ON profile.tenant_id = $1 AND profile.user_id = $2)`;

/**
 * The calendars that contain an event. The query decides who may read them. Not a function: PostgreSQL would plan it in each call.
 */
const CALENDARS = `(SELECT coalesce(array_agg(entry.calendar_id::text ORDER BY entry.calendar_id), '{}') FROM calendar_entries entry
      WHERE entry.tenant_id = item.tenant_id AND entry.event_id = item.id)`;

/** Characters of the texts of instances that are indexed. */
const INSTANCES_CHARS = 65_536;

/**
 * The texts of the instances that differ from their series. Those of private instances, and of a series with attendees of some
 * instances, are left out: not every reader of the series sees them. Texts beyond the limit are not joined: a series has many instances.
 */
const INSTANCES = `coalesce((
      SELECT left(string_agg(instance.content, E'\\n' ORDER BY instance.recurrence_key), ${INSTANCES_CHARS}) FROM (
        SELECT override.recurrence_key, texts.content,
               sum(length(texts.content)) OVER (ORDER BY override.recurrence_key) - length(texts.content) AS chars_before
          FROM event_overrides override
         CROSS JOIN LATERAL (SELECT concat_ws(E'\\n', override.patch->>'title', override.patch->>'location',
                                              override.patch->>'description') AS content OFFSET 0) texts
         WHERE override.tenant_id = item.tenant_id AND override.event_id = item.id
           AND override.patch->>'visibility' IS DISTINCT FROM 'private'
           AND NOT EXISTS (
                 SELECT FROM event_participants guest
                  WHERE guest.tenant_id = item.tenant_id AND guest.event_id = item.id AND guest.recurrence_key ~ '^[^>]'
                    AND (guest.uninvited OR NOT EXISTS (
                          SELECT FROM event_participants attendee
                           WHERE attendee.tenant_id = item.tenant_id AND attendee.event_id = item.id
                             AND attendee.recurrence_key = '' AND attendee.email = guest.email)))) instance
       WHERE instance.chars_before < ${INSTANCES_CHARS}), '')`;

/** About the bytes of `INSTANCES`, at four bytes for a character. */
const INSTANCES_BYTES = `(SELECT least(${4 * INSTANCES_CHARS}, coalesce(sum(${jsonBytes('override.patch')}), 0)) FROM event_overrides override
      WHERE override.tenant_id = item.tenant_id AND override.event_id = item.id)`;

/**
 * Tables of the search in events. The keys of an event are the calendars that contain it; a query matches the calendars of the
 * caller, and `READABLE` decides access, private events included.
 */
export const EVENT_SEARCH: SearchTables = {
  name: 'calendar',
  items: 'searchable_events',
  index: 'event_search',
  members: READABLE,
  view: HITS,
  shown: ['event', 'participants', 'overrides', 'calendar', 'role', 'locale', 'entry'],
  item: 'event_id',
  readers: CALENDARS,
  audience: `md5(array_to_string(${CALENDARS}, ','))::uuid`,
  // The engine reads HTML.
  body: `replace(replace(concat_ws(E'\\n', item.location, item.description, ${INSTANCES}), '&', '&amp;'), '<', '&lt;')`,
  bodyBytes: `(${textBytes('item.location', 'item.description')} + ${INSTANCES_BYTES})`,
  // 1: with the texts of instances.
  bodyRules: 1,
  hitBytes: `(SELECT ${EVENT_BYTES} + ${OVERRIDES_BYTES} FROM calendar_events event WHERE event.tenant_id = $1 AND event.id = item.id)`,
  event: `event.type IN ('calendar.event.created', 'calendar.event.updated')`,
  // $3: the lexeme of a calendar, without the calendar.
  findable: `(SELECT string_agg(format('''%s''', $3::text || own.calendar_id), ' | ')::tsquery && $4::tsquery
      FROM calendar_access own WHERE own.tenant_id = $1 AND own.user_id = $2)`,
};
