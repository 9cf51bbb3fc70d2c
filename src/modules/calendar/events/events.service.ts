import { Injectable } from '@nestjs/common';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { CalendarErrors, EVENTS } from '../calendar.errors.js';
import type { CreateEvent, DeleteEvent, UpdateEvent } from '../input/event.dto.js';
import {
  eventResponse,
  overrideResponses,
  proposalResponse,
  presentEvent,
  viewerOf,
} from '../responses/event.presenter.js';
import { EventOperations } from '../changes/event-operations.js';
import { recordIn } from '../model/attendance.js';
import { FOLLOWING, permissionsOf, seesInstance } from '../model/event-policy.js';
import type { EventRecord } from '../model/event-record.js';
import { occurrenceOf } from '../model/event-series.js';
import { type EventRef, instanceKey } from '../input/event-ref.js';
import { EventRemovals } from '../changes/event-removals.js';
import { EventUpdates } from '../changes/event-updates.js';
import type { Updated } from '../changes/update-job.js';
import { DuplicateUidError, EventWriter } from '../changes/event-writer.js';
import { EventsRepository, type FoundEvent } from '../events.repository.js';
import { EventListRepository } from './event-lists.repository.js';
import type { EventEnvelope, ReadEvent, UpdatedEventEnvelope } from './events.dto.js';

/** Single events: create, read, update, delete. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly lists: EventListRepository,
    private readonly operations: EventOperations,
    private readonly updates: EventUpdates,
    private readonly removals: EventRemovals,
    private readonly writer: EventWriter,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404; 403; 409 `duplicate_uid`, `already_exists`; 422 */
  async create(
    ctx: RequestContext,
    calendarId: string,
    key: IdempotencyKey | null,
    body: Checked<CreateEvent>,
  ): Promise<ReplyOf<typeof EVENTS, 'item'>> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    this.operations.assertWriter(calendar);
    const fields = body.value;
    const now = new Date().toISOString();
    const organizer = { organizer_email: calendar.owner_email.toLowerCase() };
    const participants = await this.writer.participants(this.db, ctx, fields.attendees ?? [], organizer);
    const record = this.operations.draft(ctx, calendar, fields, participants, now);
    // Without attendees of the workspace, one statement writes the event, and no transaction is needed.
    const isSingle = participants.every(({ user_id }) => user_id === null || user_id === calendar.owner_id);
    const insert = async (tx: Tx) => {
      const { record: made, entry } = await this.operations.insert(tx, ctx, calendar, record, fields, now);
      const viewer = viewerOf(ctx, calendar);
      return EVENTS.created(made.id, eventResponse(made, entry, viewer), {
        location: `/apis/v1/calendar/${calendarId}/events/${made.id}`,
      });
    };
    return this.orDuplicate(ctx, calendarId, () =>
      isSingle ? this.writes.run(ctx, key, insert) : this.writes.runTx(ctx, key, insert),
    );
  }

  /** @throws ApiError 404 */
  async read(
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    query: ReadEvent,
  ): Promise<JsonReply<EventEnvelope>> {
    const found = await this.found(ctx, calendarId, ref.id);
    const { entry, calendar } = found;
    const record = recordIn(found.record, calendar);
    const viewer = viewerOf(ctx, calendar);
    const key = instanceKey(record, ref, query.recurrence_id);
    const include = new Set(query.include);
    const event = presentEvent({ record, entry }, viewer, key);
    const seesDetails = permissionsOf(record, calendar, ctx.userId).see_details;
    if (include.has('proposals') && seesDetails) {
      const proposals = await this.events.proposals(this.db, ctx.tenantId, record.id);
      event.proposals = proposals
        .filter(
          ({ recurrence_key: at }) =>
            isReceived(record, at) && (at === '' || seesInstance(record, calendar, ctx.userId, at)),
        )
        .map((proposal) => proposalResponse(record, proposal));
    }
    const extra: Pick<EventEnvelope, 'overrides' | 'changes'> = {};
    if (include.has('overrides')) extra.overrides = overrideResponses(record, entry, viewer);
    if (include.has('history'))
      extra.changes = seesDetails ? await this.history(ctx, found.record, record) : [];
    return EVENTS.response(event, { tag: record, extra });
  }

  /**
   * The changes of an event, also of removed instances. A reader who receives a part of the event gets the changes of its instances.
   * @param received the event as the reader receives it
   */
  private async history(ctx: RequestContext, record: EventRecord, received: EventRecord) {
    const changes = await this.lists.history(ctx.tenantId, record.id);
    return received === record
      ? changes
      : changes.filter(({ recurrence_key }) => isReceived(received, recurrence_key));
  }

  /** @throws ApiError 404; 403; 409 `conflict`; 422 */
  async update(
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    expected: ExpectedRevision,
    body: Checked<UpdateEvent>,
  ): Promise<JsonReply<UpdatedEventEnvelope>> {
    const target = body.error ? calendarId : (body.value.calendar_id ?? calendarId);
    const updated = await this.orDuplicate(ctx, target, () =>
      this.db.tx((tx) => this.updates.update(tx, ctx, calendarId, ref, expected, body)),
    );
    return updatedReply(ctx, updated);
  }

  /** @throws ApiError 404; 403; 409 `conflict`; 422 */
  async delete(
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    expected: ExpectedRevision,
    body: Checked<DeleteEvent>,
  ): Promise<ReplyOf<typeof EVENTS, 'deleted'>> {
    const { calendar, record, entry, key } = await this.db.tx((tx) =>
      this.removals.remove(tx, ctx, calendarId, ref, expected, body),
    );
    const viewer = viewerOf(ctx, calendar);
    return EVENTS.deleted(presentEvent({ record, entry }, viewer, key));
  }

  /** @throws ApiError 404 */
  private async found(ctx: RequestContext, calendarId: string, eventId: string): Promise<FoundEvent> {
    const found = await this.events.find(this.db, ctx, calendarId, eventId);
    if (!found) throw CalendarErrors.calendarNotFound.with();
    if (!found.record) throw CalendarErrors.eventNotFound.with();
    return found;
  }

  /** Runs a write; another event with the uid becomes 409 `duplicate_uid` with this event. */
  private async orDuplicate<T>(ctx: RequestContext, calendarId: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof DuplicateUidError)) throw error;
      throw await this.operations.duplicate(this.db, ctx, calendarId, error);
    }
  }
}

/** The response to a change. */
function updatedReply(
  ctx: RequestContext,
  { calendar, record, entry, key, later }: Updated,
): JsonReply<UpdatedEventEnvelope> {
  const viewer = viewerOf(ctx, calendar);
  const new_event = later && eventResponse(later.record, later.entry, viewer);
  return EVENTS.response(presentEvent({ record, entry }, viewer, key), {
    tag: record,
    extra: { new_event, revision: record.revision },
  });
}

/** Whether the reader of an event is invited to this instance; empty: the whole event. */
const isReceived = (record: EventRecord, key: string): boolean =>
  key === '' || occurrenceOf(record, key.replace(FOLLOWING, ''), 'UTC') !== null;
