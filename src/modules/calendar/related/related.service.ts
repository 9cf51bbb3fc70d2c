import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { fieldError } from '../../../platform/http/errors.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import {
  bestOf,
  RELATED_KINDS,
  type RelatedItem,
  RelatedItems,
  type RelatedKind,
} from '../../../platform/references/related-items.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import { readTime } from '../input/event-input-times.js';
import { recordIn } from '../model/attendance.js';
import { permissionsOf } from '../model/event-policy.js';
import type { EventLink, EventRecord } from '../model/event-record.js';
import { occurrencesIn, rangeOf } from '../model/event-series.js';
import { formatInstant, instantOf, wallOf } from '../model/event-times.js';
import type { RelatedQueryFields } from './related.dto.js';
import { RelatedRepository } from './related.repository.js';
import type { RelatedEnvelope, RelatedItemsResponse } from './related.response.js';

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
      const found = isEmpty ? [] : await this.items.of(ctx, kind, { texts, emails, limit: query.limit + 1 });
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
      const titles = await this.titles.of(this.db, ctx, type, ids);
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
    if (window) {
      for (const record of await this.repository.inWindow(ctx, rangeOf(window))) {
        const [first] = occurrencesIn(record, { ...window, readerZone: 'UTC' }, 1);
        if (first) found.push({ ...itemOf(record, first.start), reason: 'time', score: 0.9 });
      }
    }
    if (emails.length > 0)
      for (const record of await this.repository.withAttendees(ctx, emails)) {
        const shared = emailsOf(record, ctx).filter((email) => emails.includes(email)).length;
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
