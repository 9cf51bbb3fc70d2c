import { Injectable } from '@nestjs/common';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { EVENTS } from '../calendar.errors.js';
import type { MessageDue } from '../calendar.events.js';
import type { DeleteEvent } from '../input/event.dto.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import { instanceAttendees, recordIn } from '../model/attendance.js';
import { FOLLOWING, participantOf, permissionsOf, seesInstance } from '../model/event-policy.js';
import { type EventRef, instanceKey, scopeOf } from '../input/event-ref.js';
import type { EventRecord, ParticipantRow } from '../model/event-record.js';
import { hasInstances } from '../model/event-series.js';
import { EventUpdates } from './event-updates.js';
import type { Updated, UpdateJob } from './update-job.js';
import { type EventChange } from './event-write.js';
import { EventWriter, messagesFor } from './event-writer.js';
import { entryIn } from './event-operations.js';
import { withoutOne, withResponse } from './event-change.js';
import { splitAlarms } from '../model/instance-alarms.js';
import { split } from './series-split.js';

type Job = UpdateJob<DeleteEvent>;

/** Deletions of events, and responses of attendees, for requests, batches, synchronisation and other domains. */
@Injectable()
export class EventRemovals {
  constructor(
    private readonly updates: EventUpdates,
    private readonly writer: EventWriter,
  ) {}

  /**
   * The organizer deletes an event, an instance, or an instance and all later ones. An attendee declines, and no longer sees
   * the event.
   * @param isSilent an attendee does not respond: the event is only no longer shown, until the organizer changes it
   * @returns the event as it was
   * @throws ApiError 404; 403 `forbidden`; 409 `conflict`; 422
   */
  async remove(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    expected: ExpectedRevision | null,
    body: Checked<DeleteEvent>,
    isSilent = false,
  ): Promise<Updated> {
    const now = new Date().toISOString();
    const locked = await this.updates.lockEvent(tx, ctx, calendarId, ref.id);
    const { calendar, record, entries } = locked;
    const permissions = permissionsOf(record, calendar, ctx.userId);
    if (!permissions.delete) throw Errors.forbidden.with();
    const entry = entryIn(entries, calendarId);
    const viewer = viewerOf(ctx, calendar);
    if (expected) await EVENTS.checkWrite(record, expected, body, () => eventResponse(record, entry, viewer));
    const fields = body.value;
    const key = instanceKey(recordIn(record, calendar), ref, fields.recurrence_id);
    const scope = scopeOf(fields.scope, key);
    if (scope === 'this' && !seesInstance(record, calendar, ctx.userId, key as string))
      throw Errors.forbidden.with();
    const job = { tx, ctx, locked, fields, now };
    const mayRespond = record.status !== 'cancelled' && participantOf(record, ctx.userId) !== undefined;
    if (permissions.edit) await this.removeAsOrganizer(job, scope === 'all' ? null : key, scope === 'this');
    else if (isSilent && scope === 'all' && mayRespond)
      await this.writer.commitEntry(tx, ctx, record, { ...entry, hidden: true });
    else await this.removeAsAttendee(job, scope === 'all' ? null : key, scope === 'this');
    return { calendar, record, entry, key: scope === 'all' ? null : key, later: null };
  }

  private async removeAsOrganizer(job: Job, key: string | null, onlyOne: boolean): Promise<void> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record, entries } = locked;
    const left =
      key === null ? null : onlyOne ? withoutOne(record, key, now).record : split(record, key, now).earlier;
    if (left === null || !hasInstances(left)) return this.removeAll(job);
    const options = { comment: fields.comment, isCancelled: onlyOne };
    const changedKey = onlyOne ? (key as string) : '';
    const kept = onlyOne ? entries : splitAlarms(entries, key as string).earlier;
    // Attendees whose invitations were all to removed instances lose their placement.
    const placements =
      instanceAttendees(record).length > 0
        ? await this.writer.placements(tx, ctx, left, kept, calendar.owner_id)
        : { entries: kept };
    const change: EventChange = {
      before: record,
      record: left,
      ...placements,
      action: 'updated',
      fields: [onlyOne ? 'excluded' : 'rules'],
      key: changedKey,
      messages: messagesFor(record, left, changedKey, fields.send_updates, options),
    };
    await this.writer.commit(tx, ctx, [change], now);
  }

  /** Removes the event from the calendar of its organizer and cancels it in the calendars of the attendees. */
  private async removeAll({ tx, ctx, locked, fields, now }: Job): Promise<void> {
    const { calendar, record, entries } = locked;
    const after: EventRecord = {
      ...record,
      status: 'cancelled',
      deleted_at: now,
      sequence: record.sequence + 1,
      dtstamp: now,
    };
    const options = { comment: fields.comment, isCancelled: true };
    const change: EventChange = {
      before: record,
      record: after,
      entries: entries.filter((entry) => entry.calendar_id !== calendar.id),
      removed: [calendar.id],
      action: 'deleted',
      fields: ['status'],
      messages: messagesFor(record, after, '', fields.send_updates, options),
    };
    await this.writer.commit(tx, ctx, [change], now);
  }

  private async removeAsAttendee(job: Job, key: string | null, onlyOne: boolean): Promise<void> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record, entries } = locked;
    const attendee = participantOf(record, ctx.userId);
    const isOver = record.status === 'cancelled' || !attendee;
    const rest = entries.filter((entry) => entry.calendar_id !== calendar.id);
    const common = { before: record, proposals: [], action: 'responded' as const, fields: ['response'] };
    if (!attendee && key !== null)
      throw Errors.forbidden.with({ message: 'Only the whole event can be removed from this calendar.' });
    if (isOver) {
      const change = { ...common, record, entries: rest, removed: [calendar.id] };
      await this.writer.commit(tx, ctx, [change], now);
      return;
    }
    const responseKey = key === null ? '' : onlyOne ? key : `${FOLLOWING}${key}`;
    const declined = { response: 'declined' as const, comment: fields.comment ?? '', responded_at: now };
    const values = key === null ? declined : { ...declined, removed: true as const };
    const after = withResponse(record, attendee.email, responseKey, values);
    const change: EventChange = {
      ...common,
      record: after,
      entries: entries.map((entry) =>
        entry.calendar_id === calendar.id && key === null ? { ...entry, hidden: true } : entry,
      ),
      key: responseKey,
      messages: replyTo(record, attendee, responseKey, fields.comment ?? ''),
    };
    await this.writer.commit(tx, ctx, [change], now);
  }
}

/** A REPLY to an organizer outside the workspace. */
export function replyTo(
  record: EventRecord,
  attendee: ParticipantRow,
  key: string,
  comment: string,
): Pick<MessageDue, 'method' | 'recipient' | 'recurrence_key' | 'comment' | 'proposal_id'>[] {
  if (record.origin !== 'external' || !attendee.rsvp) return [];
  const recipient = record.organizer_email;
  return [{ method: 'REPLY', recipient, recurrence_key: key, comment, proposal_id: null }];
}
