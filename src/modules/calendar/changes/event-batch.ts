import { Injectable } from '@nestjs/common';
import { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { Checked, validated } from '../../../platform/http/input.pipe.js';
import { CreateEvent, DeleteEvent, UpdateEvent } from '../input/event.dto.js';
import { eventResponse, presentEvent, viewerOf } from '../responses/event.presenter.js';
import type { CalendarEventResponse, OperationErrorResponse } from '../responses/event.response.js';
import { EventOperations } from './event-operations.js';
import type { CalendarContext } from '../model/event-record.js';
import { parseEventRef } from '../input/event-ref.js';
import { EventRemovals } from './event-removals.js';
import { EventUpdates } from './event-updates.js';
import { DuplicateUidError } from './event-writer.js';
import { EventsRepository } from '../events.repository.js';
import { isUuid } from '../../../platform/http/id.pipe.js';

/** One operation of a batch, as in the request. */
export interface BatchOperation {
  op: 'create' | 'update' | 'delete';
  client_id?: string;
  event_id?: string;
  base_revision?: number;
  scope?: string;
  recurrence_id?: unknown;
  event?: unknown;
}

/** The result of one operation. */
export interface BatchResult {
  index: number;
  client_id: string | null;
  status: number;
  event: CalendarEventResponse | null;
  error: OperationErrorResponse | null;
}

// The order of locks is that of every other write: events by id, then calendars by id.
const lockEvents = workspace.statement<never>(
  'calendar.lock_events',
  `SELECT FROM calendar_events event
    WHERE event.tenant_id = $1 AND event.id = ANY ($2) AND EXISTS (
      SELECT FROM calendar_entries entry
       WHERE entry.tenant_id = $1 AND entry.calendar_id = ANY ($3::uuid[]) AND entry.event_id = event.id)
    ORDER BY event.id FOR NO KEY UPDATE`,
);

const lockCalendars = workspace.statement<never>(
  'calendar.lock_calendars',
  `SELECT FROM calendars calendar
    WHERE calendar.tenant_id = $1 AND (calendar.id = ANY ($3::uuid[]) OR calendar.id IN (
      SELECT entry.calendar_id FROM calendar_entries entry
       WHERE entry.tenant_id = $1 AND entry.event_id = ANY ($2)))
    ORDER BY calendar.id FOR NO KEY UPDATE`,
);

/** An address or an id of an attendee. */
const NAME = /^[^\0\s]{1,320}$/;

/** Several changes of one calendar in one transaction, with a result for each. */
@Injectable()
export class EventBatch {
  constructor(
    private readonly events: EventsRepository,
    private readonly operations: EventOperations,
    private readonly updates: EventUpdates,
    private readonly removals: EventRemovals,
  ) {}

  /**
   * Locks all events of the operations, their calendars, and the calendars that attendees and moves add. Batches that lock some
   * of them later can deadlock with each other.
   * @returns the calendar as the caller sees it under the lock
   * @throws ApiError 404
   */
  async lock(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    operations: readonly BatchOperation[],
  ): Promise<CalendarContext> {
    const ids = operations.flatMap(({ event_id }) => parseEventRef(event_id ?? '')?.id ?? []);
    await this.lockEvents(tx, ctx, ids, [calendarId]);
    const added = await this.addedCalendars(tx, ctx, operations);
    await this.lockCalendars(tx, ctx, ids, [calendarId, ...added]);
    return this.events.calendar(tx, ctx, calendarId);
  }

  /** Locks those of the events that are in the calendars. `lockCalendars` follows. */
  async lockEvents(
    tx: Tx,
    { tenantId }: RequestContext,
    ids: readonly string[],
    calendarIds: readonly string[],
  ): Promise<void> {
    if (ids.length > 0) await tx.query(lockEvents, [tenantId, ids, calendarIds]);
  }

  /** Locks the calendars, and all calendars of the events. */
  async lockCalendars(
    tx: Tx,
    { tenantId }: RequestContext,
    ids: readonly string[],
    calendarIds: readonly string[],
  ): Promise<void> {
    await tx.query(lockCalendars, [tenantId, ids, calendarIds]);
  }

  /** The calendars to which operations add or move events. The fields are not validated yet. */
  private async addedCalendars(
    tx: Tx,
    { tenantId }: RequestContext,
    operations: readonly BatchOperation[],
  ): Promise<string[]> {
    const fields = operations.map(({ event }) => asObject(event) as { [field: string]: unknown });
    const targets = operations.flatMap((operation) => targetOf(operation) ?? []);
    const names = fields
      .flatMap(({ attendees }) => (Array.isArray(attendees) ? (attendees as unknown[]) : []))
      .flatMap((attendee) => (typeof attendee === 'string' ? [attendee] : Object.values(asObject(attendee))))
      .flatMap((name) => (typeof name === 'string' && NAME.test(name) ? name.toLowerCase() : []));
    const all = [...new Set(names)];
    const members = await this.events.members(tx, tenantId, all.filter(isUuid), all);
    const defaults = await this.events.defaultCalendars(
      tx,
      tenantId,
      members.map(({ user_id }) => user_id),
    );
    return [...targets, ...defaults.values()];
  }

  /**
   * Applies one operation. A rejected operation writes nothing.
   * @returns its result; errors of the API are results too
   */
  async apply(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    operation: BatchOperation,
    index: number,
  ): Promise<BatchResult> {
    const client_id = operation.client_id ?? null;
    try {
      const { status, event } = await this.run(tx, ctx, calendar, operation);
      return { index, client_id, status, event, error: null };
    } catch (error) {
      const failure =
        error instanceof DuplicateUidError
          ? await this.operations.duplicate(tx, ctx, targetOf(operation) ?? calendar.id, error)
          : error;
      if (!(failure instanceof ApiError)) throw failure;
      const body = failure.body as unknown as OperationErrorResponse;
      return { index, client_id, status: failure.kind.status, event: null, error: body };
    }
  }

  private async run(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    operation: BatchOperation,
  ): Promise<{ status: number; event: CalendarEventResponse }> {
    const viewer = viewerOf(ctx, calendar);
    if (operation.op === 'create')
      return { status: 201, event: await this.create(tx, ctx, calendar, operation) };
    const ref = parseEventRef(operation.event_id ?? '');
    if (!ref) throw Errors.invalidId.with();
    const { base_revision, scope, recurrence_id } = operation;
    const expected = ExpectedRevision.read('event', ref.id, undefined, base_revision, true);
    const fields = { ...asObject(operation.event), ...withoutUndefined({ scope, recurrence_id }) };
    if (operation.op === 'delete') {
      const body = Checked.of(DeleteEvent, fields);
      const { record, entry, key } = await this.removals.remove(tx, ctx, calendar.id, ref, expected, body);
      return { status: 200, event: presentEvent({ record, entry }, viewer, key) };
    }
    const body = Checked.of(UpdateEvent, fields);
    const updated = await this.updates.update(tx, ctx, calendar.id, ref, expected, body);
    return {
      status: 200,
      event: presentEvent(updated, { ...viewer, calendar: updated.calendar }, updated.key),
    };
  }

  private async create(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    { event, event_id }: BatchOperation,
  ): Promise<CalendarEventResponse> {
    this.operations.assertWriter(calendar);
    const fields = validated(CreateEvent, { ...withoutUndefined({ id: event_id }), ...asObject(event) });
    const { record, entry } = await this.operations.create(tx, ctx, calendar, fields);
    return eventResponse(record, entry, viewerOf(ctx, calendar));
  }
}

/** The calendar to which an operation moves its event. The fields are not validated yet. */
function targetOf({ op, event }: BatchOperation): string | null {
  const { calendar_id: id } = asObject(event) as { calendar_id?: unknown };
  return op === 'update' && isUuid(id) ? id : null;
}

const withoutUndefined = (members: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
