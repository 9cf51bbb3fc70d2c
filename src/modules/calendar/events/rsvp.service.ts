import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { CalendarErrors, EVENTS } from '../calendar.errors.js';
import { UpdateEvent } from '../input/event.dto.js';
import { proposalResponse, presentEvent, viewerOf } from '../responses/event.presenter.js';
import type { CalendarEventResponse } from '../responses/event.response.js';
import { recordFor } from '../model/attendance.js';
import { FOLLOWING, participantOf, permissionsOf } from '../model/event-policy.js';
import { type EventRef, instanceKey, scopeOf } from '../input/event-ref.js';
import type { EventRecord, ParticipantRow, ProposalRow } from '../model/event-record.js';
import { replyTo } from '../changes/event-removals.js';
import { contentOf, occurrenceOf } from '../model/event-series.js';
import { EventUpdates } from '../changes/event-updates.js';
import { EventWriter } from '../changes/event-writer.js';
import { entryIn } from '../changes/event-operations.js';
import type { EventChange, EventMessage } from '../changes/event-write.js';
import { EventsRepository, type LockedEvent } from '../events.repository.js';
import { withResponse } from '../changes/event-change.js';
import { timesOf } from '../input/event-patch.js';
import type { ProposalEnvelope, ProposedTime, ProposeTime, RespondToEvent } from './events.dto.js';

/** Responses of attendees, and proposals of other times. */
@Injectable()
export class RsvpService {
  constructor(
    private readonly events: EventsRepository,
    private readonly updates: EventUpdates,
    private readonly writer: EventWriter,
    private readonly writes: IdempotentWrites,
  ) {}

  /** @throws ApiError 404; 403 `not_attendee`, `proposals_disabled`; 409 `event_cancelled`; 422 */
  async respond(
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    key: IdempotencyKey | null,
    body: Checked<RespondToEvent>,
  ): Promise<ReplyOf<typeof EVENTS, 'item'>> {
    return this.writes.runTx(ctx, key, async (tx) => {
      const locked = await this.updates.lockEvent(tx, ctx, calendarId, ref.id);
      const fields = body.value;
      const { attendee, instance } = attendeeOf(locked, ctx, ref, fields.recurrence_id);
      assertLive(locked.record);
      const scope = scopeOf(fields.scope, instance);
      assertOccurs(locked.record, instance);
      const now = new Date().toISOString();
      const responseKey =
        scope === 'all' ? '' : scope === 'this' ? (instance as string) : `${FOLLOWING}${instance}`;
      const { response, comment = '', send_reply = true, proposed } = fields;
      const proposal = proposed
        ? this.proposal(ctx, locked, attendee, instance, proposed, comment, now)
        : null;
      const values = { response, comment, responded_at: now };
      const record = withResponse(locked.record, attendee.email, responseKey, values);
      const messages = send_reply ? replyTo(record, attendee, responseKey, comment) : [];
      const done = await this.write(
        tx,
        ctx,
        locked,
        record,
        proposal ? [proposal] : [],
        responseKey,
        messages,
        now,
      );
      return EVENTS.response(this.presentResult(ctx, locked, done, scope === 'all' ? null : instance), {
        tag: done.record,
      });
    });
  }

  /** A new proposal of an attendee, or a decision about one. */
  async propose(
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    key: IdempotencyKey | null,
    body: Checked<ProposeTime>,
  ): Promise<JsonReply<ProposalEnvelope>> {
    return this.writes.runTx(ctx, key, async (tx) => {
      const locked = await this.updates.lockEvent(tx, ctx, calendarId, ref.id);
      const permissions = permissionsOf(locked.record, locked.calendar, ctx.userId);
      if (!permissions.see_details) throw Errors.forbidden.with();
      if (permissions.edit && body.error) throw body.error;
      if (!body.error && body.value.proposal_id !== undefined)
        return this.decide(tx, ctx, locked, body.value);
      const { start, end, comment = '', recurrence_id, response = 'tentative' } = body.value;
      const { attendee, instance } = attendeeOf(locked, ctx, ref, recurrence_id);
      assertLive(locked.record);
      assertOccurs(locked.record, instance);
      const now = new Date().toISOString();
      const times = { start, end } as ProposedTime;
      const proposal = this.proposal(ctx, locked, attendee, instance, times, comment, now);
      const values = { response, comment, responded_at: now };
      const record = withResponse(locked.record, attendee.email, instance ?? '', values);
      const message = { method: 'COUNTER', recipient: record.organizer_email } as const;
      const messages =
        record.origin === 'external'
          ? [{ ...message, recurrence_key: instance ?? '', comment, proposal_id: proposal.id }]
          : [];
      const done = await this.write(tx, ctx, locked, record, [proposal], instance ?? '', messages, now);
      return reply(201, done.record, proposal, this.presentResult(ctx, locked, done, instance));
    });
  }

  /** Accepts (the event moves), declines or withdraws a proposal. */
  private async decide(
    tx: Tx,
    ctx: RequestContext,
    locked: LockedEvent,
    fields: ProposeTime,
  ): Promise<JsonReply<ProposalEnvelope>> {
    const { record, calendar } = locked;
    const all = await this.events.proposals(tx, ctx.tenantId, record.id);
    const proposal = all.find(({ id }) => id === fields.proposal_id?.toLowerCase());
    if (!proposal) throw CalendarErrors.proposalNotFound.with();
    const isAuthor = proposal.by_user_id === ctx.userId;
    const mayDecide = permissionsOf(record, calendar, ctx.userId).edit;
    if (fields.action === 'withdraw' ? !isAuthor : !mayDecide) throw Errors.forbidden.with();
    if (proposal.status !== 'pending') throw CalendarErrors.proposalClosed.with();
    if (fields.action === 'accept') return this.accept(tx, ctx, locked, proposal);
    const status = fields.action === 'withdraw' ? 'withdrawn' : 'declined';
    const decided: ProposalRow = { ...proposal, status };
    const { by_email: recipient, recurrence_key } = proposal;
    const isOutside = status === 'declined' && proposal.by_user_id === null;
    const comment = fields.comment ?? '';
    const message = {
      method: 'DECLINECOUNTER' as const,
      recipient,
      recurrence_key,
      comment,
      proposal_id: proposal.id,
    };
    const now = new Date().toISOString();
    const done = await this.write(
      tx,
      ctx,
      locked,
      record,
      [decided],
      recurrence_key,
      isOutside ? [message] : [],
      now,
    );
    return reply(200, done.record, decided, this.presentResult(ctx, locked, done, recurrence_key || null));
  }

  private async accept(
    tx: Tx,
    ctx: RequestContext,
    locked: LockedEvent,
    proposal: ProposalRow,
  ): Promise<JsonReply<ProposalEnvelope>> {
    const { record, calendar } = locked;
    const key = proposal.recurrence_key || null;
    const isDay = !proposal.starts.includes('T');
    const time = (text: string, zone: string | null) =>
      isDay ? { date: text } : { date_time: text, time_zone: zone };
    const change = Checked.of(UpdateEvent, {
      start: time(proposal.starts, proposal.time_zone),
      end: time(proposal.ends, proposal.end_time_zone ?? proposal.time_zone),
      ...(key !== null && { recurrence_id: key, scope: 'this' }),
    });
    const ref = { id: record.id, instance: null };
    const updated = await this.updates.update(tx, ctx, calendar.id, ref, null, change);
    const event = presentEvent(updated, viewerOf(ctx, locked.calendar), key);
    return reply(200, updated.record, { ...proposal, status: 'accepted' }, event);
  }

  private proposal(
    ctx: RequestContext,
    { record, calendar }: LockedEvent,
    attendee: ParticipantRow,
    key: string | null,
    times: ProposedTime,
    comment: string,
    now: string,
  ): ProposalRow {
    if (!record.proposals_allowed) throw CalendarErrors.proposalsDisabled.with();
    const occurrence = key === null ? null : occurrenceOf(record, key, calendar.time_zone);
    const current = occurrence ? contentOf(record, occurrence) : record;
    const proposed = timesOf(times, current, calendar.time_zone);
    const names = ['starts', 'ends', 'time_zone', 'end_time_zone'] as const;
    if (names.every((name) => proposed[name] === current[name])) throw CalendarErrors.sameTime.with();
    return {
      ...proposed,
      id: uuidv7(),
      recurrence_key: key ?? '',
      by_email: attendee.email,
      by_name: attendee.name,
      by_user_id: ctx.userId,
      comment,
      status: 'pending',
      base_sequence: record.sequence,
      created_at: now,
    };
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    locked: LockedEvent,
    record: EventRecord,
    proposals: ProposalRow[],
    key: string,
    messages: EventMessage[],
    now: string,
  ): Promise<EventChange> {
    const change: EventChange = {
      before: locked.record,
      record,
      entries: locked.entries,
      proposals,
      action: proposals.length > 0 ? 'proposed' : 'responded',
      fields: proposals.length > 0 ? ['proposals'] : ['response'],
      key,
      messages,
    };
    return this.writer.commitOne(tx, ctx, change, now);
  }

  private presentResult(
    ctx: RequestContext,
    locked: LockedEvent,
    done: EventChange,
    key: string | null,
  ): CalendarEventResponse {
    const entry = entryIn(done.entries, locked.calendar.id);
    return presentEvent({ record: done.record, entry }, viewerOf(ctx, locked.calendar), key);
  }
}

/**
 * The caller as an attendee of the event, and the instance that the request names.
 * @throws ApiError 403 `not_attendee`, 404, 422 `not_an_instance`
 */
function attendeeOf(
  { record, calendar }: LockedEvent,
  { userId }: RequestContext,
  ref: EventRef,
  named: RespondToEvent['recurrence_id'],
): { attendee: ParticipantRow; instance: string | null } {
  const attendee = participantOf(record, userId);
  if (!attendee || !permissionsOf(record, calendar, userId).see_details)
    throw CalendarErrors.notAttendee.with();
  const own = recordFor(record, ({ user_id }) => user_id === userId);
  return { attendee, instance: instanceKey(own, ref, named) };
}

function assertLive(record: EventRecord): void {
  if (record.status === 'cancelled') throw CalendarErrors.eventCancelled.with();
}

/** @throws ApiError 409 for a cancelled instance */
function assertOccurs(record: EventRecord, key: string | null): void {
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (override?.patch.status === 'cancelled') throw CalendarErrors.eventCancelled.with();
}

function reply(
  status: number,
  record: EventRecord,
  proposal: ProposalRow,
  event: CalendarEventResponse,
): JsonReply<ProposalEnvelope> {
  return JsonReply.of({ proposal: proposalResponse(record, proposal), event }, { status });
}
