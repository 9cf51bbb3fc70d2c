import { Injectable } from '@nestjs/common';
import { fold, foldLoosely } from '../../../lib/search-text/index.js';
import { addressForms } from '../../../lib/text/index.js';
import { Turns } from '../../../lib/turns/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository, type FoundEvent } from '../events.repository.js';
import { CalendarTokens } from '../calendar-tokens.js';
import {
  eventResponse,
  instanceResponse,
  overrideResponses,
  type Viewer,
  viewerOf,
} from '../responses/event.presenter.js';
import { readTime } from '../input/event-input-times.js';
import { recordIn } from '../model/attendance.js';
import { isWithin, stepsOf } from '../model/event-steps.js';
import { permissionsOf } from '../model/event-policy.js';
import type { CalendarContext, EventRecord } from '../model/event-record.js';
import { contentOf, type Occurrence, rangeOf } from '../model/event-series.js';
import { formatInstant, hasOffset, instantOf, zoneNamed } from '../model/event-times.js';
import { EventListRepository, EventWindowRepository, type ListFilters } from './event-lists.repository.js';
import type { EventListEnvelope, InstanceListEnvelope, ListEvents, ListInstances } from './events.dto.js';
import { invalidField } from '../input/event-patch.js';

/** 31 days, seconds. */
const DEFAULT_WINDOW = 31 * 86_400;
/** The longest window of a request, seconds. */
const MAX_WINDOW = 400 * 86_400;
/** Maximum number of instances of a request. */
const MAX_INSTANCES = 10_000;
/** The most instances that a request expands, including those that end before the window. */
const MAX_EXPANSION = 100_000;

/** An instance of an event in a calendar. */
interface FoundInstance extends Omit<FoundEvent, 'calendar'> {
  occurrence: Occurrence;
}

/** Lists of events and windows of instances. */
@Injectable()
export class EventListsService {
  constructor(
    private readonly lists: EventListRepository,
    private readonly events: EventsRepository,
    private readonly windows: EventWindowRepository,
    private readonly tokens: CalendarTokens,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  /** Series and single events. @throws ApiError 404, 422 `invalid_cursor` */
  async list(
    ctx: RequestContext,
    calendarId: string,
    query: ListEvents,
  ): Promise<JsonReply<EventListEnvelope>> {
    const { limit, cursor, include, ...filters } = query;
    const scope = `events ${ctx.tenantId} ${ctx.userId} ${calendarId} ${JSON.stringify(filters)}`;
    const [listed, id, head] = cursor === undefined ? [] : this.cursors.read(scope, cursor);
    const after = listed === undefined ? null : ([String(listed), String(id)] as const);
    const zone = 'UTC';
    const wanted = { ...filtersOf(query, zone), limit: limit + 1, after };
    const { calendar, found, hasMore } = await this.lists.list(ctx, calendarId, wanted);
    const viewer = viewerOf(ctx, calendar);
    const instant = (text: string | undefined) => (text === undefined ? null : instantIn(text, zone));
    const bounds = { from: instant(query.from), to: instant(query.to) };
    const items: string[] = [];
    let last: (typeof found)[number] | undefined;
    const turns = new Turns();
    for (const event of found.slice(0, limit)) {
      await turns.pause();
      const { entry } = event;
      const record = recordIn(event.record, calendar);
      const isListed = isWithin(record, bounds, viewer.readerZone) && hasNames(record, query, viewer);
      const overrides = include ? overrideResponses(record, entry, viewer) : [];
      const shown = isListed ? [eventResponse(record, entry, viewer), ...overrides] : [];
      if (items.length > 0 && items.length + shown.length > limit) break;
      items.push(...shown.map((item) => JSON.stringify(item)));
      last = event;
    }
    const seq = Number(head ?? calendar.change_seq);
    const next =
      last && (hasMore || last !== found.at(-1))
        ? this.cursors.write(scope, [last.listed, last.record.id, seq])
        : null;
    const isWhole = Object.keys(filters).every((name) => name === 'order');
    // The token has the position of the first page, so the feed repeats changes that happen between the pages.
    const token = next === null && isWhole ? this.tokens.write(ctx, calendar, seq) : null;
    return JsonReply.listOf('events', items, { next, sync_token: token });
  }

  /** The instances that overlap a window, by start. @throws ApiError 404; 422 `window_too_large`, `invalid_cursor` */
  async instances(
    ctx: RequestContext,
    calendarId: string,
    query: ListInstances,
  ): Promise<JsonReply<InstanceListEnvelope>> {
    const { limit, cursor, q, event_id, show_cancelled = false } = query;
    const own = await this.zoneOf(ctx, calendarId, query);
    const filters = JSON.stringify([query.from, query.to, own, q, event_id, show_cancelled]);
    const scope = `instances ${ctx.tenantId} ${ctx.userId} ${calendarId} ${filters}`;
    const after = cursor === undefined ? null : (this.cursors.read(scope, cursor) as unknown as Position);
    const { from, to } = after ? { from: after[3], to: after[4] } : windowOf(query, own ?? 'UTC');
    // Instances that start before the cursor and last longer are on earlier pages; the filter removes them.
    const window = { from: after ? Math.max(from, after[0]) : from, to, readerZone: own };
    const read = await this.instancesIn(ctx, calendarId, window, event_id?.toLowerCase());
    const viewer = { userId: ctx.userId, calendar: read.calendar, readerZone: read.readerZone };
    const words = q === undefined ? [] : foldLoosely(q).split(/\s+/).filter(Boolean);
    const wanted = read.instances.filter(
      (item) =>
        (!after || compare(item, after[0], after[1], after[2]) > 0) &&
        isShown(item, viewer, show_cancelled, words),
    );
    const { items, last } = await this.presentPage(ctx, wanted.slice(0, limit), read, viewer);
    const hasMore = last !== undefined && last !== wanted.at(-1);
    const next = hasMore ? this.cursors.write(scope, [...keyOf(last), from, to]) : null;
    const meta = { next, from: formatInstant(from), to: formatInstant(to), time_zone: read.readerZone };
    return JsonReply.listOf('instances', items, meta);
  }

  /**
   * The instances of a page as the viewer sees them, and the last of them. Reads the content of the page where the window has only
   * times. An event that was deleted since has no instance.
   */
  private async presentPage(
    ctx: RequestContext,
    page: readonly FoundInstance[],
    { isWhole, calendar }: { isWhole: boolean; calendar: CalendarContext },
    viewer: Viewer,
  ): Promise<{ items: string[]; last: FoundInstance | undefined }> {
    const present = ({ record, entry, occurrence }: FoundInstance) =>
      JSON.stringify(instanceResponse(record, entry, viewer, occurrence));
    if (isWhole || page.length === 0) return { items: page.map(present), last: page.at(-1) };
    const names = page.map(({ record, occurrence }) => [record.id, occurrence.key ?? ''] as const);
    const { events, fitting } = await this.windows.content(ctx.tenantId, calendar.id, names);
    const own = new Map(
      [...events].map(([id, found]) => [id, { ...found, record: recordIn(found.record, calendar) }]),
    );
    const fits = page.slice(0, fitting);
    const items = fits.flatMap(({ record: { id }, entry, occurrence }) => {
      const found = own.get(id);
      if (!found) return [];
      const { record, instance_alarms } = found;
      const override = record.overrides.find((each) => each.recurrence_key === occurrence.key) ?? null;
      const alarmed = { ...entry, instance_alarms };
      return [present({ record, entry: alarmed, occurrence: { ...occurrence, override } })];
    });
    return { items, last: fits.at(-1) };
  }

  /**
   * The instances of a calendar that overlap a window, in the order of start, event and key. Cancelled ones are included.
   * @param window instants in seconds; `readerZone` null: the zone of the calendar
   * @throws ApiError 404; 422 `window_too_large`
   */
  private async instancesIn(
    ctx: RequestContext,
    calendarId: string,
    window: { from: number; to: number; readerZone: string | null },
    eventId?: string,
  ): Promise<{
    calendar: CalendarContext;
    instances: FoundInstance[];
    readerZone: string;
    isWhole: boolean;
  }> {
    const { from, to } = window;
    if (to - from > MAX_WINDOW) throw CalendarErrors.windowTooLarge.with();
    const query = { ...rangeOf(window), limit: MAX_INSTANCES + 1, eventId };
    const { calendar, found, isWhole } = await this.windows.window(ctx, calendarId, query);
    const readerZone = window.readerZone ?? calendar.time_zone;
    const instances: FoundInstance[] = [];
    const turns = new Turns();
    let cost = 0;
    for (const { record: event, entry } of found) {
      const record = recordIn(event, calendar);
      for (const step of stepsOf(record, { from, to, readerZone })) {
        for (const occurrence of step.found) instances.push({ record, entry, occurrence });
        cost += step.cost;
        if (instances.length > MAX_INSTANCES || cost > MAX_EXPANSION)
          throw CalendarErrors.windowTooLarge.with();
        await turns.pause();
      }
    }
    return { calendar, instances: instances.sort(inOrder), readerZone, isWhole };
  }

  /** The zone of the times of a query. Null means that all times have offsets; all-day events are read in the zone of the calendar. */
  private async zoneOf(
    ctx: RequestContext,
    calendarId: string,
    query: ListInstances,
  ): Promise<string | null> {
    if (query.time_zone !== undefined) return zoneNamed(query.time_zone);
    if ([query.from, query.to].every((text) => text === undefined || hasOffset(text))) return null;
    return (await this.events.calendar(this.db, ctx, calendarId)).time_zone;
  }
}

/**
 * Whether the event, as the viewer receives it, matches the filters. SQL has compared the whole series, of which an attendee of some
 * instances sees only a part.
 */
function hasNames(record: EventRecord, { q, uid, attendee }: ListEvents, viewer: Viewer): boolean {
  if ((q ?? uid ?? attendee) === undefined) return true;
  return (
    permissionsOf(record, viewer.calendar, viewer.userId).see_details &&
    (q === undefined || foldLoosely(record.title).includes(foldLoosely(q))) &&
    (attendee === undefined ||
      record.participants.some(({ email }) => addressForms(attendee).includes(email)))
  );
}

/** Start, event and key of an instance, and the window. */
type Position = readonly [start: number, id: string, key: string, from: number, to: number];

const keyOf = ({ record, occurrence }: FoundInstance): [number, string, string] => [
  occurrence.start,
  record.id,
  occurrence.key ?? '',
];

/** Compares by start, event and key, a unique order. */
const compare = ({ record, occurrence }: FoundInstance, start: number, id: string, key: string): number =>
  occurrence.start - start || order(record.id, id) || order(occurrence.key ?? '', key);
const inOrder = (a: FoundInstance, b: FoundInstance): number =>
  compare(a, b.occurrence.start, b.record.id, b.occurrence.key ?? '');
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** @throws ApiError 422 */
function windowOf(query: ListInstances, zone: string): { from: number; to: number } {
  const from = query.from === undefined ? Math.floor(Date.now() / 1000) : instantIn(query.from, zone);
  const to = query.to === undefined ? from + DEFAULT_WINDOW : instantIn(query.to, zone);
  if (to <= from) throw invalidField('to', 'before_from', 'must be after from');
  return { from, to };
}

function isShown(
  { record, occurrence }: FoundInstance,
  viewer: Viewer,
  cancelled: boolean,
  words: string[],
): boolean {
  const status = occurrence.override?.patch.status ?? record.status;
  if (status === 'cancelled' && !cancelled) return false;
  if (words.length === 0) return true;
  const { title, visibility } = contentOf(record, occurrence);
  const text = foldLoosely(title);
  return (
    words.every((word) => text.includes(word)) &&
    permissionsOf(record, viewer.calendar, viewer.userId, { key: occurrence.key, visibility }).see_details
  );
}

/** The instant of a time of a query. */
function instantIn(text: string, zone: string): number {
  const time = readTime(text, zone);
  return instantOf(time.wall, time.zone ?? zone);
}

function filtersOf(query: ListEvents, zone: string): Omit<ListFilters, 'limit' | 'after'> {
  const instant = (text: string | undefined) =>
    text === undefined ? null : formatInstant(instantIn(text, zone));
  return {
    order: query.order,
    from: instant(query.from),
    to: instant(query.to),
    updatedAfter: instant(query.updated_after),
    uid: query.uid ?? null,
    title: query.q === undefined ? null : fold(query.q),
    attendee: query.attendee === undefined ? null : addressForms(query.attendee),
    status: query.status ?? null,
    showCancelled: query.show_cancelled ?? false,
  };
}
