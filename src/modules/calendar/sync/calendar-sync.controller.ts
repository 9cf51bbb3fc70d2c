import { Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { fitsPage, jsonBytes, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import {
  Idempotency,
  type IdempotencyKey,
  IdempotentWrites,
} from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/feed.dto.js';
import { type CalendarPosition, CalendarTokens } from '../calendar-tokens.js';
import { CALENDARS } from '../calendar.errors.js';
import { type BatchOperation, type BatchResult, EventBatch } from '../changes/event-batch.js';
import {
  CONTEXT,
  contextOf,
  type ContextRow,
  EVENT_BYTES,
  EventsRepository,
  type FoundEvent,
  OVERRIDES_BYTES,
  assertVisible,
} from '../events.repository.js';
import { isAtLeast } from '../model/event-policy.js';
import { type CalendarContext, type EventJson, recordOf } from '../model/event-record.js';
import { eventResponse, overrideResponses, viewerOf } from '../responses/event.presenter.js';
import {
  SyncCalendar,
  SyncCalendarEnvelope,
  type SyncChange,
  type SyncChangeResponse,
  type SyncResultResponse,
} from './calendar-sync.dto.js';

interface ChangeRow extends ContextRow {
  /** Null means no changes. */
  seq: number | null;
  event_id: string;
  uid: string;
  is_gone: boolean;
  /** False means that the change does not fit the page; its event is not read. */
  fits: boolean;
  event: EventJson['event'] | null;
  participants: EventJson['participants'];
  overrides: EventJson['overrides'];
  entry: FoundEvent['entry'];
}

export type CalendarChange = Omit<ChangeRow, keyof ContextRow | 'seq'> & { seq: number };

// Indexes calendar_entries_changes and entry_tombstones_changes. One statement reads one snapshot, so the counter of the calendar is
// at least as high as the number of each returned change. $5: removals up to this number do not concern the client.
const changes = workspace.statement<ChangeRow>(
  'calendar.changes',
  `SELECT ${CONTEXT},
          change.seq::float8 AS seq, change.event_id, change.uid, change.is_gone,
          change.fits, record.event, record.participants, record.overrides,
          json_build_object('show_as', change.show_as, 'color', change.color, 'reminders', change.reminders,
                            'instance_alarms', change.instance_alarms, 'response', change.response) AS entry
     FROM calendar_contexts calendar
     LEFT JOIN LATERAL (
       SELECT listed.*, ${fitsPage('bytes', '$6', '$7')} AS fits FROM (
       SELECT named.*, CASE WHEN event.id IS NULL THEN 1024 ELSE ${EVENT_BYTES} + ${OVERRIDES_BYTES}
                              + ${jsonBytes('named.instance_alarms')} END AS bytes FROM (
       (SELECT change_seq AS seq, event_id, uid, hidden AS is_gone, show_as, color, reminders,
               instance_alarms, response
          FROM calendar_entries
         WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > $4 AND NOT (hidden AND change_seq <= $5)
         ORDER BY change_seq LIMIT $6)
       UNION ALL
       (SELECT change_seq, event_id, uid, true, NULL, NULL, NULL, NULL, NULL FROM entry_tombstones
         WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > greatest($4, $5)
         ORDER BY change_seq LIMIT $6)
       ORDER BY seq LIMIT $6) named
       LEFT JOIN calendar_events event ON event.tenant_id = $1 AND event.id = named.event_id AND NOT named.is_gone) listed
       WINDOW page_order AS (ORDER BY seq ROWS UNBOUNDED PRECEDING)) change ON true
     LEFT JOIN LATERAL (
       SELECT shown.event, shown.participants, shown.overrides FROM event_records shown
        WHERE change.fits AND NOT change.is_gone AND shown.tenant_id = $1 AND shown.id = change.event_id OFFSET 0) record ON true
    WHERE calendar.tenant_id = $1 AND calendar.id = $2
    ORDER BY change.seq`,
);

/** The changes of a calendar. */
@Injectable()
export class CalendarSyncRepository {
  constructor(private readonly db: Db) {}

  /**
   * Changes after a number, in their order. Those that do not fit the page by their bytes come last.
   * @param position null: the client has no data
   * @throws ApiError 404
   */
  async changes(
    ctx: RequestContext,
    calendarId: string,
    position: Pick<CalendarPosition, 'seq' | 'since'> | null,
    limit: number,
  ): Promise<{ calendar: CalendarContext; changes: CalendarChange[] }> {
    const { seq, since } = position ?? { seq: 0, since: Number.MAX_SAFE_INTEGER };
    const values = [ctx.tenantId, calendarId, ctx.userId, seq, since, limit, PAGE_BYTES];
    const rows = await this.db.query(changes, values);
    const calendar = assertVisible(contextOf(rows[0]));
    return { calendar, changes: rows.flatMap((row) => (row.seq === null ? [] : [{ ...row, seq: row.seq }])) };
  }
}

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

/** The uid of a new event, by default its `client_id`. Null means that neither is valid. */
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

const SYNC_BODY_BYTES = 8 * 1024 * 1024;
/** 500 changes, each with 100 values on average. */
const SYNC_VALUES = 50_000;

@ApiTags('calendar')
@Controller('calendar/:calendar_id/sync')
export class CalendarSyncController {
  constructor(private readonly calendars: CalendarSyncService) {}

  @Endpoint('POST', {
    id: 'syncCalendar',
    summary: 'Synchronise a calendar in both directions',
    description:
      'First applies the changes of the client, each with its own result. Then returns the changes since the token, including the changes of the client; without a token, all events.',
    response: [SyncCalendarEnvelope, 'Results, changes and the next token.'],
    optionalBody: true,
    example: { sync_token: null },
    errors: [CALENDARS.notFound, CURSOR_EXPIRED],
  })
  @BodyLimit(SYNC_BODY_BYTES, SYNC_VALUES)
  sync(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(SyncCalendar) body: Checked<SyncCalendar>,
  ) {
    return this.calendars.sync(ctx, calendarId, key, body);
  }
}
