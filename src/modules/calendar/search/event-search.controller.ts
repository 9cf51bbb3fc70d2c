import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { readerLexeme } from '../../../lib/search-text/index.js';
import { jsonBytes, textBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RelatedItems } from '../../../platform/references/related-items.js';
import { ItemIndexer } from '../../../platform/search/item-indexer.js';
import { type Found, ItemSearch } from '../../../platform/search/item-search.js';
import type { SearchFilter, SearchRow } from '../../../platform/search/item-search.repository.js';
import type { SearchTables } from '../../../platform/search/search-tables.js';
import { CalendarEvents } from '../calendar.events.js';
import type { CalendarRole } from '../calendar.schema.js';
import { EVENT_BYTES, type FoundEvent, OVERRIDES_BYTES } from '../events.repository.js';
import { readTime } from '../input/event-input-times.js';
import { recordIn } from '../model/attendance.js';
import { permissionsOf } from '../model/event-policy.js';
import { type CalendarContext, type EventJson, type EventRecord, recordOf } from '../model/event-record.js';
import { formatInstant, instantOf } from '../model/event-times.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import { EventSearchEnvelope, SearchEvents } from './event-search.dto.js';

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

/** Keeps the search index of events up to date. */
@Injectable()
export class EventIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, EVENT_SEARCH, outbox, jobs, {
      name: 'calendar-search',
      types: [CalendarEvents.created, CalendarEvents.updated],
      often: [CalendarEvents.created, CalendarEvents.updated],
    });
  }
}

interface EventSearchRow extends SearchRow {
  shown: EventJson['event'];
  participants: EventJson['participants'];
  overrides: EventJson['overrides'];
  calendar: Omit<CalendarContext, 'role' | 'locale'>;
  role: CalendarRole;
  locale: string | null;
  entry: FoundEvent['entry'];
}

const STATES = { active: 'active', cancelled: 'trash', all: 'all' } as const;

/** Search in the events whose details the caller sees. */
@Injectable()
export class EventSearchService extends ItemSearch<EventSearchRow, EventSearchEnvelope> {
  protected readonly plural = 'events';
  protected readonly bodyName = 'description';

  constructor(db: Db, indexer: EventIndexer, cursors: Cursors, related: RelatedItems) {
    super(db, indexer, cursors);
    related.register('events', (ctx, query) => this.findRelated(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, query: SearchEvents): Promise<JsonReply<EventSearchEnvelope>> {
    const { q, limit, cursor, state } = query;
    const calendar = query.calendar_id?.toLowerCase() ?? null;
    const [from, to] = [instant(query.from), instant(query.to)];
    const filter = (bind: (value: unknown) => string) => filterOf([calendar, from, to], bind);
    return this.respond(ctx, {
      q,
      limit,
      cursor,
      state: STATES[state],
      filter,
      values: [calendar, from, to],
    });
  }

  protected composeFindable(): string {
    return readerLexeme('');
  }

  /** An attendee of some instances sees the texts of these instances, not of the series. */
  protected override textsOf({ userId }: RequestContext, row: EventSearchRow) {
    const { shown: event, participants, overrides, role, locale } = row;
    const whole = recordOf({ event, participants, overrides });
    const calendar = { ...row.calendar, role, locale };
    const record = recordIn(whole, calendar);
    if (record === whole) return null;
    const seesDetails = permissionsOf(record, calendar, userId).see_details;
    return seesDetails ? { title: record.title, body: bodyOf(record) } : { title: '', body: '' };
  }

  protected presentRows(ctx: RequestContext, rows: Found<EventSearchRow>[]): Promise<string[]> {
    const items = rows.map(
      ({ shown: event, participants, overrides, calendar: own, role, locale, entry }) => {
        const calendar = { ...own, role, locale };
        const viewer = viewerOf(ctx, calendar);
        return JSON.stringify(eventResponse(recordOf({ event, participants, overrides }), entry, viewer));
      },
    );
    return Promise.resolve(items);
  }
}

/** The body as `EVENT_SEARCH` indexes it. */
const bodyOf = ({ location, description }: EventRecord): string =>
  `${location}\n${description}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function instant(text: string | undefined): string | null {
  if (text === undefined) return null;
  const { wall, zone } = readTime(text, 'UTC');
  return formatInstant(instantOf(wall, zone));
}

/** Restricts hits to events with a placement in the calendar and in the window. */
function filterOf(values: readonly (string | null)[], bind: (value: unknown) => string): SearchFilter {
  if (values.every((value) => value === null)) return { variant: '', sql: '' };
  const [calendar, from, to] = values.map(bind);
  return {
    variant: '.placed',
    sql: ` AND EXISTS (SELECT FROM calendar_entries placed
      WHERE placed.tenant_id = $1 AND placed.event_id = member.event_id
        AND (${calendar}::uuid IS NULL OR placed.calendar_id = ${calendar})
        AND (${from}::timestamptz IS NULL OR placed.span_end > ${from})
        AND (${to}::timestamptz IS NULL OR placed.span_start < ${to}))`,
  };
}

@ApiTags('calendar')
@Controller('search/calendar')
export class EventSearchController {
  constructor(private readonly events: EventSearchService) {}

  @Endpoint('GET', {
    id: 'searchEvents',
    summary: 'Search events',
    description:
      'Searches the events whose details you see in your own and shared calendars, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [EventSearchEnvelope, 'A page of events.'],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchEvents) {
    return this.events.search(ctx, query);
  }
}
