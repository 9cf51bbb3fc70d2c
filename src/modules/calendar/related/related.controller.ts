import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { addressForms, addressKey } from '../../../lib/text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { fieldError } from '../../../platform/http/errors.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import {
  bestOf,
  RELATED_KINDS,
  type RelatedItem,
  RelatedItems,
  type RelatedKind,
} from '../../../platform/references/related-items.js';
import { CalendarErrors, EVENTS } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import { readTime } from '../input/event-input-times.js';
import { recordIn } from '../model/attendance.js';
import { permissionsOf } from '../model/event-policy.js';
import { type EventJson, type EventLink, type EventRecord, recordOf } from '../model/event-record.js';
import { occurrencesIn, rangeOf } from '../model/event-series.js';
import { formatInstant, instantOf, wallOf } from '../model/event-times.js';
import { RelatedEnvelope, type RelatedItemsResponse, RelatedQueryFields } from './related.dto.js';
import type { CalendarEntry } from '../calendar.schema.js';

/** Maximum number of events that one query reads. */
const MAX_EVENTS = 200;

interface PlacedJson extends EventJson {
  calendar_id: string;
  owner_id: string;
}

// Placements whose details the caller sees; free_busy calendars and private events of others are left out.
const READABLE = `
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id AND event.deleted_at IS NULL
     JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id
    WHERE entry.tenant_id = $1 AND NOT entry.hidden AND event.status <> 'cancelled'
      AND (event.visibility <> 'private' OR calendar.owner_id = $2 OR event.organizer_id = $2
           OR EXISTS (SELECT FROM event_participants own
                       WHERE own.tenant_id = $1 AND own.event_id = event.id AND own.user_id = $2))`;

const OWN = `SELECT DISTINCT access.calendar_id FROM calendar_access access
              WHERE access.tenant_id = $1 AND access.user_id = $2 AND access.role >= 'reader'`;

/** An event with the calendar in which the caller sees it, own calendars first. */
const PLACED = `entry.event_id, calendar.id AS calendar_id, calendar.owner_id`;
const OWN_FIRST = `calendar.owner_id = $2 DESC, calendar.id`;

const RECORDS = `SELECT found.calendar_id, found.owner_id, record.event, record.participants, record.overrides
     FROM found JOIN event_records record ON record.tenant_id = $1 AND record.id = found.event_id`;

// Index calendar_entries_start, once for each calendar. $5: the window less the reach of events that are not wide.
const inWindow = workspace.statement<PlacedJson>(
  'calendar.related_in_window',
  `WITH found AS (
     SELECT DISTINCT ON (entry.event_id) ${PLACED} FROM (${OWN}) own
      CROSS JOIN LATERAL (
        (SELECT * FROM calendar_entries placed
          WHERE placed.tenant_id = $1 AND placed.calendar_id = own.calendar_id AND NOT placed.wide
            AND placed.span_start >= $5 AND placed.span_start < $4 AND placed.span_end > $3 LIMIT ${MAX_EVENTS})
        UNION ALL
        (SELECT * FROM calendar_entries placed
          WHERE placed.tenant_id = $1 AND placed.calendar_id = own.calendar_id AND placed.wide
            AND placed.span_start < $4 AND placed.span_end > $3 LIMIT ${MAX_EVENTS})) entry
      ${READABLE} ORDER BY entry.event_id, ${OWN_FIRST} LIMIT ${MAX_EVENTS})
   ${RECORDS}`,
);

// Index event_participants_email.
const withAttendees = workspace.statement<PlacedJson>(
  'calendar.related_with_attendees',
  `WITH own AS MATERIALIZED (${OWN}),
   shared AS (
     SELECT DISTINCT participant.event_id FROM event_participants participant
      WHERE participant.tenant_id = $1 AND participant.email = ANY ($3)
      ORDER BY participant.event_id DESC LIMIT 1000),
   found AS (
     SELECT DISTINCT ON (entry.event_id) ${PLACED} FROM shared
       JOIN calendar_entries entry ON entry.tenant_id = $1 AND entry.event_id = shared.event_id
        AND entry.calendar_id IN (SELECT calendar_id FROM own)
      ${READABLE.replace('WHERE entry.tenant_id = $1 AND', 'WHERE')}
      ORDER BY entry.event_id DESC, ${OWN_FIRST} LIMIT ${MAX_EVENTS})
   ${RECORDS}`,
);

// Index calendar_entries_event. The calendar with the highest role of the caller.
const placement = workspace.statement<Pick<CalendarEntry, 'calendar_id'>>(
  'calendar.related_placement',
  `SELECT entry.calendar_id FROM calendar_entries entry
     JOIN calendar_access access
       ON access.tenant_id = $1 AND access.calendar_id = entry.calendar_id AND access.user_id = $2
    WHERE entry.tenant_id = $1 AND entry.event_id = $3 AND NOT entry.hidden
    ORDER BY access.role DESC, entry.calendar_id LIMIT 1`,
);

/** The event as its calendar receives it; empty if the user does not see its details in this calendar. */
function receivedBy(userId: string, row: PlacedJson): EventRecord[] {
  const calendar = { id: row.calendar_id, owner_id: row.owner_id, role: 'reader' as const };
  const record = recordIn(recordOf(row), calendar);
  return permissionsOf(record, calendar, userId).see_details ? [record] : [];
}

/** Events by time and by attendee. */
@Injectable()
export class RelatedRepository {
  constructor(private readonly db: Db) {}

  /** @param window RFC 3339; `reach` is `from` less the reach of events that are not wide */
  async inWindow(
    { tenantId, userId }: RequestContext,
    { from, to, reach }: { from: string; to: string; reach: string },
  ): Promise<EventRecord[]> {
    const rows = await this.db.query(inWindow, [tenantId, userId, from, to, reach]);
    return rows.flatMap((row) => receivedBy(userId, row));
  }

  /** @param emails lower case */
  async withAttendees(
    { tenantId, userId }: RequestContext,
    emails: readonly string[],
  ): Promise<EventRecord[]> {
    const rows = await this.db.query(withAttendees, [tenantId, userId, emails]);
    return rows.flatMap((row) => receivedBy(userId, row));
  }

  /** The calendar through which the caller reads an event, or undefined. */
  async calendarOf({ tenantId, userId }: RequestContext, eventId: string): Promise<string | undefined> {
    return (await this.db.query(placement, [tenantId, userId, eventId]))[0]?.calendar_id;
  }
}

const MAX_WINDOW = 31 * 86_400;
/** Number of words of a title that are searched one by one, and their minimum length. */
const SINGLE_WORDS = 3;
const WORD_LENGTH = 4;
const MAX_EMAILS = 20;
/** The kinds of links that other modules give titles for. */
const LINKED: Partial<Record<EventLink['type'], RelatedKind>> = {
  note: 'notes',
  task: 'tasks',
  room: 'rooms',
};

/** The subject of a request. */
interface Subject {
  texts: string[];
  emails: string[];
  links: EventLink[];
  window: { from: number; to: number } | null;
  /** This event is not related to itself. */
  eventId: string | null;
}

/** Items that are related to an event, a subject, a user or a time. Other modules register theirs. */
@Injectable()
export class RelatedService {
  constructor(
    private readonly events: EventsRepository,
    private readonly repository: RelatedRepository,
    private readonly items: RelatedItems,
    private readonly titles: ReferenceTitles,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404 for the event; 422 without a subject */
  async list(ctx: RequestContext, query: RelatedQueryFields): Promise<RelatedEnvelope> {
    const subject = await this.subject(ctx, query);
    const kinds = new Set(query.types ?? RELATED_KINDS);
    const linked = await this.linked(ctx, subject.links);
    const related = {} as Record<RelatedKind, RelatedItem[]>;
    for (const kind of RELATED_KINDS) {
      const { texts, emails } = subject;
      const isEmpty = !kinds.has(kind) || texts.length + emails.length === 0;
      const found = isEmpty
        ? []
        : await this.items.findRelated(ctx, kind, { texts, emails, limit: query.limit + 1 });
      const own = kind === 'events' && kinds.has(kind) ? await this.ofCalendars(ctx, subject) : [];
      const links = kinds.has(kind) ? (linked.get(kind) ?? []) : [];
      const others = [...links, ...own, ...found].filter(({ id }) => id !== subject.eventId);
      related[kind] = bestOf(others, query.limit);
    }
    return { related: related satisfies RelatedItemsResponse };
  }

  private async subject(ctx: RequestContext, query: RelatedQueryFields): Promise<Subject> {
    const { event_id: eventId, q, email, start, end } = query;
    if ((start === undefined) !== (end === undefined))
      throw fieldError('end', 'required', 'start and end go together');
    if (eventId === undefined && q === undefined && email === undefined && start === undefined)
      throw fieldError('q', 'required', 'event_id, q, email, or start and end are required');
    const event = eventId === undefined ? null : await this.event(ctx, eventId.toLowerCase());
    const window = start === undefined ? null : { from: instant(start), to: instant(end as string) };
    if (window && (window.to < window.from || window.to - window.from > MAX_WINDOW))
      throw fieldError('end', 'invalid_window', 'end is 0 to 31 days after start');
    const texts = [...textsOf(q ?? ''), ...textsOf(event?.title ?? '')];
    const emails = new Set([...(email ? [email.toLowerCase()] : []), ...(event ? emailsOf(event, ctx) : [])]);
    return {
      texts: [...new Set(texts)],
      emails: [...emails].slice(0, MAX_EMAILS),
      links: event?.links ?? [],
      window,
      eventId: eventId?.toLowerCase() ?? null,
    };
  }

  /** Null for an event whose details the caller does not see. @throws ApiError 404 */
  private async event(ctx: RequestContext, eventId: string): Promise<EventRecord | null> {
    const calendarId = await this.repository.calendarOf(ctx, eventId);
    const found = calendarId === undefined ? null : await this.events.find(this.db, ctx, calendarId, eventId);
    if (!found?.record) throw CalendarErrors.eventNotFound.with();
    const record = recordIn(found.record, found.calendar);
    return permissionsOf(record, found.calendar, ctx.userId).see_details ? record : null;
  }

  private async linked(
    ctx: RequestContext,
    links: readonly EventLink[],
  ): Promise<Map<RelatedKind, RelatedItem[]>> {
    const found = new Map<RelatedKind, RelatedItem[]>();
    for (const [type, kind] of Object.entries(LINKED) as [EventLink['type'], RelatedKind][]) {
      const ids = links.flatMap((link) => (link.type === type && link.id !== null ? [link.id] : []));
      const titles = await this.titles.readTitles(this.db, ctx, type, ids);
      found.set(
        kind,
        [...titles].map(([id, title]) => ({ id, title, reason: 'link', score: 1, date: null })),
      );
    }
    return found;
  }

  /** Events at the same time and with the same attendees. */
  private async ofCalendars(ctx: RequestContext, { window, emails }: Subject): Promise<RelatedItem[]> {
    const found: RelatedItem[] = [];
    const keys = new Set(emails.map(addressKey));
    if (window) {
      for (const record of await this.repository.inWindow(ctx, rangeOf(window))) {
        const [first] = occurrencesIn(record, { ...window, readerZone: 'UTC' }, 1);
        if (first) found.push({ ...itemOf(record, first.start), reason: 'time', score: 0.9 });
      }
    }
    if (emails.length > 0)
      for (const record of await this.repository.withAttendees(ctx, emails.flatMap(addressForms))) {
        const shared = emailsOf(record, ctx).filter((email) => keys.has(addressKey(email))).length;
        const start = instantOf(wallOf(record.starts), record.time_zone);
        found.push({ ...itemOf(record, start), reason: 'attendee', score: shared / emails.length / 2 });
      }
    return found;
  }
}

const itemOf = ({ id, title }: EventRecord, start: number) => ({ id, title, date: formatInstant(start) });

/** Addresses of the attendees and of the organizer besides the caller. */
function emailsOf(record: EventRecord, { userId }: RequestContext): string[] {
  const others = record.participants.filter(({ user_id }) => user_id !== userId).map(({ email }) => email);
  const organizer = record.organizer_id === userId ? [] : [record.organizer_email];
  return [...new Set([...others, ...organizer])];
}

/** The text itself, then its longest words. */
function textsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  const whole = words.slice(0, 10).join(' ');
  const long = words.filter((word) => word.length >= WORD_LENGTH).toSorted((a, b) => b.length - a.length);
  return whole === '' ? [] : [...new Set([whole, ...long.slice(0, SINGLE_WORDS)])];
}

function instant(text: string): number {
  const { wall, zone } = readTime(text, 'UTC');
  return instantOf(wall, zone);
}

@ApiTags('calendar')
@Controller('calendar/related')
export class RelatedController {
  constructor(private readonly related: RelatedService) {}

  @Endpoint('GET', {
    id: 'listRelatedItems',
    summary: 'List items related to an event, a subject, a user or a time',
    description:
      'Events, notes, tasks, contacts and chat rooms that you can read. Events whose details you do not see have no related items.',
    response: [RelatedEnvelope, 'The items.'],
    errors: [EVENTS.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: RelatedQueryFields): Promise<RelatedEnvelope> {
    return this.related.list(ctx, query);
  }
}
