import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/sync.errors.js';
import { type CalendarPosition, CalendarTokens } from '../calendar-tokens.js';
import { eventResponse, overrideResponses, viewerOf } from '../responses/event.presenter.js';
import { type BatchOperation, type BatchResult, EventBatch } from '../changes/event-batch.js';
import { isAtLeast } from '../model/event-policy.js';
import { type CalendarContext, type EventJson, recordOf } from '../model/event-record.js';
import { EventsRepository } from '../events.repository.js';
import type { SyncCalendar, SyncChange } from './calendar-sync.dto.js';
import { type CalendarChange, CalendarSyncRepository } from './calendar-sync.repository.js';
import type {
  SyncChangeResponse,
  SyncResultResponse,
  SyncCalendarEnvelope,
} from './calendar-sync.response.js';

const LIMIT = 100;
/** A position that no change follows. */
const END_OF_CHANGES = { seq: Number.MAX_SAFE_INTEGER, since: 0 };

/** Two-way synchronisation of a calendar: applies the changes of the client, then returns the changes of the server. */
@Injectable()
export class CalendarSyncService {
  constructor(
    private readonly events: EventsRepository,
    private readonly feed: CalendarSyncRepository,
    private readonly batch: EventBatch,
    private readonly tokens: CalendarTokens,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404; 410 `cursor_expired`, before anything is written; 422 */
  async sync(
    ctx: RequestContext,
    calendarId: string,
    key: IdempotencyKey | null,
    body: Checked<SyncCalendar>,
  ): Promise<JsonReply<SyncCalendarEnvelope>> {
    const pushed = body.error ? [] : (body.value.changes ?? []);
    if (key === null && pushed.length === 0) return this.pull(ctx, calendarId, body, []);
    return this.writes.runTx(ctx, key, (tx) =>
      this.db.within(tx, async () => {
        const calendar = await this.events.calendar(tx, ctx, calendarId);
        const { sync_token } = body.value;
        if (sync_token) this.assertValid(this.tokens.read(ctx, calendar.id, sync_token), calendar);
        return this.pull(ctx, calendarId, body, await this.push(tx, ctx, calendarId, body.value));
      }),
    );
  }

  private async push(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    { changes = [], conflict = 'server' }: SyncCalendar,
  ): Promise<SyncResultResponse[]> {
    const uids = changes.flatMap((change) => (change.event_id === undefined ? (uidOf(change) ?? []) : []));
    const existing = await this.events.idsOfUids(tx, ctx.tenantId, calendarId, uids);
    const calendar = await this.batch.lock(tx, ctx, calendarId, [
      ...changes.map(({ event_id, event }): BatchOperation => ({ op: 'update', event_id, event })),
      ...[...existing.values()].map((event_id): BatchOperation => ({ op: 'update', event_id })),
    ]);
    const results: SyncResultResponse[] = [];
    for (const [index, change] of changes.entries()) {
      const operation = await this.operationOf(tx, ctx, calendar, change, conflict === 'client');
      const result = await this.batch.apply(tx, ctx, calendar, operation, index);
      results.push(resolved(result, conflict));
    }
    return results;
  }

  private async operationOf(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    change: SyncChange,
    overwrites: boolean,
  ): Promise<BatchOperation> {
    const { client_id, event_id, event = {} } = change;
    const base_revision = overwrites ? undefined : change.base_revision;
    if (change.op === 'delete') return { op: 'delete', client_id, event_id, base_revision, event };
    if (event_id !== undefined) return { op: 'update', client_id, event_id, base_revision, event };
    const uid = uidOf(change);
    // An earlier change of the same request may have created the event.
    const uids = uid === null ? [] : [uid];
    const [existingId] = (await this.events.idsOfUids(tx, ctx.tenantId, calendar.id, uids)).values();
    return existingId === undefined
      ? { op: 'create', client_id, event: { ...(client_id !== undefined && { uid: client_id }), ...event } }
      : { op: 'update', client_id, event_id: existingId, base_revision, event };
  }

  private async pull(
    ctx: RequestContext,
    calendarId: string,
    body: Checked<SyncCalendar>,
    results: SyncResultResponse[],
  ): Promise<JsonReply<SyncCalendarEnvelope>> {
    const { limit = LIMIT, sync_token } = body.error ? {} : body.value;
    const position = sync_token ? this.tokens.read(ctx, calendarId, sync_token) : null;
    // For an invalid token only the calendar is read: a missing calendar is a 404, else the token is a 410.
    const from = sync_token ? (position ?? END_OF_CHANGES) : null;
    const read = await this.feed.changes(ctx, calendarId, from, limit + 1);
    const { calendar } = read;
    if (sync_token) this.assertValid(position, calendar);
    if (body.error) throw body.error;
    const page = read.changes.slice(0, limit).filter(({ fits }) => fits);
    const more = read.changes.length > page.length;
    const seq = more ? (page.at(-1) as CalendarChange).seq : calendar.change_seq;
    const changes = page.map((change) => changeResponse(ctx, calendar, change));
    const token = this.tokens.write(ctx, calendar, seq, position ? position.since : calendar.change_seq);
    return JsonReply.of({ results, changes, sync_token: token, more });
  }

  /** @throws ApiError 410 `cursor_expired` */
  private assertValid(position: CalendarPosition | null, calendar: CalendarContext): void {
    if (this.tokens.isValid(position, calendar)) return;
    const hint = `POST /apis/v1/calendar/${calendar.id}/sync`;
    throw CURSOR_EXPIRED.with({ body: { reset_required: true, hint } });
  }
}

/** The uid of a new event, by default its `client_id`. Null: neither is valid. */
function uidOf({ client_id, event }: SyncChange): string | null {
  const { uid = client_id } = (event ?? {}) as { uid?: unknown };
  return typeof uid === 'string' && !/\p{Cc}/u.test(uid) ? uid : null;
}

function changeResponse(
  ctx: RequestContext,
  calendar: CalendarContext,
  change: CalendarChange,
): SyncChangeResponse {
  const { event_id, entry } = change;
  if (change.is_gone || !change.event)
    return { op: 'delete', event_id, uid: isAtLeast(calendar.role, 'reader') ? change.uid : '' };
  const viewer = viewerOf(ctx, calendar);
  const record = recordOf(change as EventJson);
  return {
    op: 'upsert',
    event: eventResponse(record, entry, viewer),
    overrides: overrideResponses(record, entry, viewer),
  };
}

/** The result of a change, after the choice of the client for conflicts. */
function resolved(result: BatchResult, conflict: 'server' | 'client' | 'report'): SyncResultResponse {
  const { error } = result;
  const current = error?.error === 'conflict' ? (error.event ?? null) : null;
  const shown = { ...result, current };
  return current && conflict === 'server' ? { ...shown, status: 200, event: current, error: null } : shown;
}
