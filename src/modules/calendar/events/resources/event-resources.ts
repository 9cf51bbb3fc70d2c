import { Injectable } from '@nestjs/common';
import { Turns } from '../../../../lib/turns/index.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { PAGE_BYTES } from '../../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../../platform/database/db.js';
import { CURSOR_EXPIRED } from '../../../../platform/sync/sync.errors.js';
import { CalendarTokens } from '../../calendar-tokens.js';
import { EventsRepository } from '../../events.repository.js';
import { isAtLeast } from '../../model/event-policy.js';
import type { CalendarContext } from '../../model/event-record.js';
import { formatInstant } from '../../model/event-times.js';
import { EventResourcesRepository, type PlacedRecord } from './event-resources.repository.js';
import { occursIn, resourceText, type TextOptions } from './resource-text.js';

/** An event of a calendar as a resource of its own. */
export interface NamedEvent {
  uid: string;
  /** Changes with the text of the event. */
  version: string;
}

export interface EventText extends NamedEvent {
  text: string;
}

/** A change of a calendar; `version` is null where the event is gone. */
export interface EventVersionChange {
  uid: string;
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

  /** All events, without their content, in pages. @throws ApiError 404 */
  async *names(ctx: RequestContext, calendarId: string): AsyncGenerator<NamedEvent[]> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    for (let after: string | null = null; ;) {
      const rows = await this.resources.names(ctx.tenantId, calendarId, after, NAMES);
      yield rows.map(({ uid, version }) => ({ uid, version: this.versionOf(calendar, version) }));
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
      yield* this.texts(ctx, calendar, found, options);
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
    const instant = (time: number | null) => (time === null ? null : formatInstant(time));
    const span = { from: instant(window.from), to: instant(window.to) };
    const isBounded = window.from !== null || window.to !== null;
    const exact = { from: window.from ?? EARLIEST, to: window.to ?? LATEST };
    for (let after: string | null = null; ;) {
      const page = await this.resources.page(ctx.tenantId, calendarId, after, span, PAGE);
      const turns = new Turns();
      const found: PlacedRecord[] = [];
      for (const placed of page.found) {
        if (!isBounded || occursIn(placed, calendar, exact)) found.push(placed);
        await turns.pause();
      }
      yield* this.texts(ctx, calendar, found, options);
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
    const changes = page.map(({ uid, version, isGone }) => ({
      uid,
      version: isGone ? null : this.versionOf(calendar, version),
    }));
    return { changes, token: this.tokens.write(ctx, calendar, last, since), hasMore };
  }

  /** The calendar's role for the caller. @throws ApiError 404 */
  async calendar(ctx: RequestContext, calendarId: string): Promise<CalendarContext> {
    return this.events.calendar(this.db, ctx, calendarId);
  }

  /** In pages by the bytes of the texts: an expanded series has a thousand times those of its record. */
  private async *texts(
    ctx: RequestContext,
    calendar: CalendarContext,
    found: readonly PlacedRecord[],
    options: TextOptions,
  ): AsyncGenerator<EventText[]> {
    const turns = new Turns();
    let texts: EventText[] = [];
    let bytes = 0;
    for (const placed of found) {
      const text = resourceText(placed, calendar, ctx.userId, options);
      texts.push({ uid: placed.uid, version: this.versionOf(calendar, placed.version), text });
      bytes += text.length;
      if (bytes >= PAGE_BYTES) {
        yield texts;
        [texts, bytes] = [[], 0];
      }
      await turns.pause();
    }
    if (texts.length > 0) yield texts;
  }
}
