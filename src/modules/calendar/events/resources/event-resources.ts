import { Injectable } from '@nestjs/common';
import {
  type Component,
  component,
  formatComponent,
  property,
  vtimezoneText,
  zonesIn,
} from '../../../../lib/icalendar/index.js';
import { Turns } from '../../../../lib/turns/index.js';
import { countFitting, inPages } from '../../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { CURSOR_EXPIRED } from '../../../../platform/sync/feed.dto.js';
import { CalendarTokens } from '../../calendar-tokens.js';
import { EventsRepository } from '../../events.repository.js';
import { recordIn, resourceIn } from '../../model/attendance.js';
import { ownAlarms } from '../../model/dependent-properties.js';
import { isAtLeast, permissionsOf } from '../../model/event-policy.js';
import type { CalendarContext, EventRecord, Visibility } from '../../model/event-record.js';
import {
  concernsWindow,
  contentOf,
  isSeries,
  type Occurrence,
  occurrencesIn,
} from '../../model/event-series.js';
import { formatInstant, instantOf, isDay, wallOf } from '../../model/event-times.js';
import { PRODUCT } from '../../model/ics/product.js';
import { instanceVevent, stamp, veventsOf, type VEventView } from '../../model/vevent.js';
import { type EventName, EventResourcesRepository, type PlacedRecord } from './event-resources.repository.js';

const HEAD = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:${PRODUCT}\r\nCALSCALE:GREGORIAN\r\n`;
const END = 'END:VCALENDAR\r\n';

/** Instances of one event that an expansion writes. */
const MAX_INSTANCES = 2_000;

export interface TextOptions {
  /** False means times with IANA names only, without VTIMEZONE (RFC 7809). */
  zones: boolean;
  /** Instances in this window in place of the series (RFC 4791, 9.6.5): instants in seconds. */
  expand?: { from: number; to: number } | undefined;
  /** Only changed instances that concern this window (RFC 4791, 9.6.6): instants in seconds. */
  limit?: { from: number; to: number } | undefined;
  /** The zone in which days and floating times are read; missing: that of the calendar. */
  readerZone?: string | undefined;
}

/** Seconds between the earliest and the latest clock of the earth. */
const CLOCKS = 26 * 3600;

const viewOf = (
  record: EventRecord,
  calendar: CalendarContext,
  userId: string,
  { reminders, alarms, instance_alarms: instanceAlarms }: PlacedRecord,
): VEventView => {
  const sees = (visibility: Visibility): boolean =>
    permissionsOf(record, calendar, userId, { key: null, visibility }).see_details;
  return {
    seesDetails: sees(record.visibility),
    seesPrivate: sees('private'),
    reminders: reminders ?? [],
    alarms: ownAlarms(record, calendar.id, alarms),
    instanceAlarms,
    ownerEmail: calendar.owner_email,
  };
};

/** The pieces of a whole VCALENDAR of an event with its instances, as a user sees it in a calendar. Each is short work. */
function* resourcePieces(
  placed: PlacedRecord,
  calendar: CalendarContext,
  userId: string,
  options: TextOptions,
): Generator<string> {
  const record = resourceIn(placed.record, calendar);
  const view = viewOf(record, calendar, userId, placed);
  const { limit } = options;
  const { time_zone: zone } = readIn(calendar, options);
  const events = veventsOf(record, view, limit && ((key) => concernsWindow(record, key, limit, zone)));
  yield HEAD;
  if (options.expand) {
    for (const event of expanded(record, view, events, readIn(calendar, options), options.expand))
      yield formatComponent(event);
  } else {
    const year = Number(record.starts.slice(0, 4));
    for (const name of options.zones ? zonesIn(events) : []) yield vtimezoneText(name, year);
    for (const event of events) yield formatComponent(event);
  }
  yield END;
}

/** A calendar as the program of a query reads it. */
const readIn = (calendar: CalendarContext, { readerZone }: TextOptions): CalendarContext =>
  readerZone === undefined ? calendar : { ...calendar, time_zone: readerZone };

/** The instances of an event in a window, with times in UTC, as many as about the bytes of a page have. @param events those of the record */
function* expanded(
  record: EventRecord,
  view: VEventView,
  events: readonly Component[],
  { time_zone: readerZone }: CalendarContext,
  window: { from: number; to: number },
): Generator<Component> {
  const [whole] = events;
  if (!whole) return;
  const limit = countFitting(formatComponent(whole).length, MAX_INSTANCES);
  const found = occurrencesIn(record, { ...window, readerZone }, limit);
  for (const occurrence of found.toSorted((a, b) => a.start - b.start)) {
    if (isSeries(record) && contentOf(record, occurrence).status === 'cancelled') continue;
    const event = occurrence.key === null ? whole : instanceVevent(record, occurrence.key, view);
    if (event) yield inUtc(event, record, occurrence, readerZone);
  }
}

function inUtc(event: Component, record: EventRecord, occurrence: Occurrence, readerZone: string): Component {
  const { key, start, end } = occurrence;
  if (isDay(contentOf(record, occurrence).starts)) return event;
  const utc = (name: string, instant: number) => property(name, stamp(formatInstant(instant)));
  const id =
    key === null
      ? []
      : [isDay(key) ? null : utc('RECURRENCE-ID', instantOf(wallOf(key), record.time_zone, readerZone))];
  const replaced = new Set(['DTSTART', 'DTEND', 'DURATION', ...(id[0] ? ['RECURRENCE-ID'] : [])]);
  const times = [utc('DTSTART', start), utc('DTEND', end), ...id.flatMap((each) => each ?? [])];
  const others = event.properties.filter(({ name }) => !replaced.has(name));
  return component('VEVENT', [...others, ...times], event.components);
}

/** Whether an event has an instance in a window (RFC 4791, 9.9). @param window instants in seconds */
export const occursIn = (
  { record }: Pick<PlacedRecord, 'record'>,
  calendar: CalendarContext,
  window: { from: number; to: number },
): boolean =>
  occurrencesIn(recordIn(record, calendar), { ...window, readerZone: calendar.time_zone }, 1).length > 0;

/** An event of a calendar as a resource of its own. */
export interface NamedEvent {
  uid: string;
  /** Changes with the text of the event. */
  version: string;
  /** As the version, without the responses of others; null: the event has no attendees. */
  tag: string | null;
}

export interface EventText extends NamedEvent {
  text: string;
}

/** A change of a calendar; `version` is null where the event is gone. */
export interface EventVersionChange extends Pick<NamedEvent, 'uid' | 'tag'> {
  version: string | null;
}

const PAGE = 200;
const NAMES = 1_000;
/** UIDs of one query. */
const UIDS = 100;
/** The window of a query without one of its bounds, in seconds. */
const EARLIEST = -2_208_988_800;
const LATEST = 7_258_118_400;

/** The events of calendars by UID, each with its instances as one text of iCalendar: what CalDAV serves. */
@Injectable()
export class EventResources {
  constructor(
    private readonly events: EventsRepository,
    private readonly resources: EventResourcesRepository,
    private readonly tokens: CalendarTokens,
    private readonly db: Db,
  ) {}

  /** The version of an event for `VersionCheck`. */
  versionOf(calendar: Pick<CalendarContext, 'role'>, change: number): string {
    return `${change}${isAtLeast(calendar.role, 'reader') ? '' : 't'}`;
  }

  private versionsOf(
    calendar: CalendarContext,
    { version, tag }: Pick<EventName, 'version' | 'tag'>,
  ): Pick<NamedEvent, 'version' | 'tag'> {
    const of = (change: number): string => this.versionOf(calendar, change);
    return { version: of(version), tag: tag === null ? null : of(tag) };
  }

  /** All events, without their content, in pages. @throws ApiError 404 */
  async *names(ctx: RequestContext, calendarId: string): AsyncGenerator<NamedEvent[]> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    for (let after: string | null = null; ;) {
      const rows = await this.resources.names(ctx.tenantId, calendarId, after, NAMES);
      yield rows.map((row) => ({ uid: row.uid, ...this.versionsOf(calendar, row) }));
      if (rows.length < NAMES) return;
      after = rows.at(-1)?.id ?? null;
    }
  }

  /** The events with these UIDs, in pages. @throws ApiError 404 for the calendar */
  async *ofUids(
    ctx: RequestContext,
    calendarId: string,
    uids: readonly string[],
    options: TextOptions,
  ): AsyncGenerator<EventText[]> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    let wanted = [...new Set(uids)];
    while (wanted.length > 0) {
      const batch = wanted.slice(0, UIDS);
      const { found, missing } = await this.resources.ofUids(ctx.tenantId, calendarId, batch);
      yield* inPages(this.texts(ctx, calendar, found, options));
      wanted = [...missing, ...wanted.slice(UIDS)];
    }
  }

  /**
   * The events that occur in a window, in pages.
   * @param window instants in seconds; null: unbounded
   * @throws ApiError 404
   */
  async *occurring(
    ctx: RequestContext,
    calendarId: string,
    window: { from: number | null; to: number | null },
    options: TextOptions,
  ): AsyncGenerator<EventText[]> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    // The stored spans are those of the zone of the calendar.
    const margin = options.readerZone === undefined ? 0 : CLOCKS;
    const span = {
      from: window.from === null ? null : formatInstant(window.from - margin),
      to: window.to === null ? null : formatInstant(window.to + margin),
    };
    const read = readIn(calendar, options);
    const isBounded = window.from !== null || window.to !== null;
    const exact = { from: window.from ?? EARLIEST, to: window.to ?? LATEST };
    for (let after: string | null = null; ;) {
      const page = await this.resources.page(ctx.tenantId, calendarId, after, span, PAGE);
      const turns = new Turns();
      const found: PlacedRecord[] = [];
      for (const placed of page.found) {
        if (!isBounded || occursIn(placed, read, exact)) found.push(placed);
        await turns.pause();
      }
      yield* inPages(this.texts(ctx, calendar, found, options));
      after = page.next;
      if (after === null) return;
    }
  }

  /** The token of the present state. @throws ApiError 404 */
  async token(ctx: RequestContext, calendarId: string): Promise<string> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    return this.tokens.write(ctx, calendar, calendar.change_seq);
  }

  /**
   * Changes since a token; without one, all events.
   * @throws ApiError 404; 410 `cursor_expired`
   */
  async changes(
    ctx: RequestContext,
    calendarId: string,
    token: string | null,
    limit: number,
  ): Promise<{ changes: EventVersionChange[]; token: string; hasMore: boolean }> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    const position = token === null ? null : this.tokens.read(ctx, calendarId, token);
    if (token !== null && !this.tokens.isValid(position, calendar))
      throw CURSOR_EXPIRED.with({ body: { reset_required: true, hint: 'sync-collection without a token' } });
    const { seq, since } = position ?? { seq: 0, since: calendar.change_seq };
    const rows = await this.resources.changes(ctx.tenantId, calendarId, { seq, since }, limit + 1);
    const page = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    const last = hasMore ? (page.at(-1)?.version ?? seq) : Math.max(calendar.change_seq, seq);
    const changes = page.map(({ isGone, ...row }) => ({
      uid: row.uid,
      ...(isGone ? { version: null, tag: null } : this.versionsOf(calendar, row)),
    }));
    return { changes, token: this.tokens.write(ctx, calendar, last, since), hasMore };
  }

  /** The calendar's role for the caller. @throws ApiError 404 */
  async calendar(ctx: RequestContext, calendarId: string): Promise<CalendarContext> {
    return this.events.calendar(this.db, ctx, calendarId);
  }

  private async *texts(
    ctx: RequestContext,
    calendar: CalendarContext,
    found: readonly PlacedRecord[],
    options: TextOptions,
  ): AsyncGenerator<EventText> {
    const turns = new Turns();
    for (const placed of found) {
      let text = '';
      for (const piece of resourcePieces(placed, calendar, ctx.userId, options)) {
        text += piece;
        await turns.pause();
      }
      yield { uid: placed.uid, ...this.versionsOf(calendar, placed), text };
    }
  }
}
