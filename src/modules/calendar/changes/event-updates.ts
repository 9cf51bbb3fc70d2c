import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { CalendarErrors, EVENTS } from '../calendar.errors.js';
import type { UpdateEvent } from '../input/event.dto.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import { recordIn } from '../model/attendance.js';
import { isAtLeast, permissionsOf, seesInstance } from '../model/event-policy.js';
import { type EventRef, instanceKey, scopeOf } from '../input/event-ref.js';
import { withoutCall } from './event-calls.js';
import type { EventRecord } from '../model/event-record.js';
import { type EventChange } from './event-write.js';
import { movedEntries, moveTarget, moveTo, type Updated, type UpdateJob } from './update-job.js';
import { EventWriter, messagesFor } from './event-writer.js';
import {
  assertRulesMove,
  changedWholeField,
  changesFor,
  changesForOne,
  OwnSettings,
  wholeTimes,
  withOwn,
} from './requested-changes.js';
import { entryIn } from './event-operations.js';
import { type Changed, type Changes, changeAll, changeOne } from './event-change.js';
import { followAlarms, splitAlarms } from '../model/instance-alarms.js';
import { assertInstances, invalidField } from '../input/event-patch.js';
import { split } from './series-split.js';
import { EventsRepository, type LockedEvent } from '../events.repository.js';

/** Fields by which the organizer arranges the own calendar: a change of them alone is no update for attendees (RFC 5546, 2.1.4). */
const OWN_FIELDS: ReadonlySet<string> = new Set(['color', 'categories', 'show_as']);

/** Updates of events, for requests, batches, synchronisation and other domains. */
@Injectable()
export class EventUpdates {
  constructor(
    private readonly events: EventsRepository,
    private readonly writer: EventWriter,
    private readonly settings: OwnSettings,
  ) {}

  /**
   * Locks an event of a calendar.
   * @throws ApiError 404
   */
  async lockEvent(tx: Tx, ctx: RequestContext, calendarId: string, eventId: string): Promise<LockedEvent> {
    const found = await this.events.lock(tx, ctx, calendarId, eventId);
    if (!found) throw CalendarErrors.calendarNotFound.with();
    if (!found.record || entryIn(found.entries, calendarId).hidden) throw CalendarErrors.eventNotFound.with();
    return found;
  }

  /**
   * Changes an event, one instance, or an instance and all later ones. An attendee changes their own placement only.
   * @throws ApiError 404; 403 `forbidden`, `not_organizer`; 409 `conflict`; 422
   */
  async update(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    ref: EventRef,
    expected: ExpectedRevision | null,
    body: Checked<UpdateEvent>,
  ): Promise<Updated> {
    const now = new Date().toISOString();
    const locked = await this.lockEvent(tx, ctx, calendarId, ref.id);
    const { calendar, record } = locked;
    const permissions = permissionsOf(record, calendar, ctx.userId);
    if (!permissions.see_details || !isAtLeast(calendar.role, 'writer')) throw Errors.forbidden.with();
    const entry = entryIn(locked.entries, calendarId);
    const viewer = viewerOf(ctx, calendar);
    if (expected) await EVENTS.checkWrite(record, expected, body, () => eventResponse(record, entry, viewer));
    const fields = body.value;
    const key = instanceKey(recordIn(record, calendar), ref, fields.recurrence_id);
    const scope = scopeOf(fields.scope, key);
    if (scope === 'this' && !seesInstance(record, calendar, ctx.userId, key as string))
      throw Errors.forbidden.with();
    const job = { tx, ctx, locked, fields, now };
    if (!permissions.edit) return this.settings.update(job, key, scope === 'this');
    if (scope === 'this') return this.updateOne(job, key as string);
    const parts = scope === 'all' ? null : split(record, key as string, now);
    return parts?.earlier
      ? this.updateFollowing(job, parts.earlier, parts.later, key as string)
      : this.updateAll(job, key);
  }

  private async updateAll(job: UpdateJob, key: string | null): Promise<Updated> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record } = locked;
    const changes = await this.changes(job, record, wholeTimes(record, fields, key, calendar.time_zone));
    const changed = changeAll(record, changes, now);
    const target = await moveTarget(this.events, job);
    if (!changed && !target) return this.settings.writePlacement(job, key, false);
    const next = changed?.record ?? { ...record };
    assertInstances(next);
    const entries = withOwn(locked, calendar.id, fields);
    if (target) moveTo(next, target);
    const current = target ? movedEntries(entries, calendar.id, target) : entries;
    const placements = await this.writer.placements(tx, ctx, next, current, (target ?? calendar).owner_id);
    if (target) placements.removed.push(calendar.id);
    const done = await this.commit(
      job,
      { record: next, fields: changed?.fields ?? ['calendar_id'] },
      placements,
    );
    const shown = target ?? calendar;
    return {
      calendar: shown,
      record: done.record,
      entry: entryIn(done.entries, shown.id),
      key: null,
      later: null,
    };
  }

  private async updateOne(job: UpdateJob, key: string): Promise<Updated> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record } = locked;
    const isMoved = fields.calendar_id !== undefined && fields.calendar_id !== calendar.id;
    const wholeField = changedWholeField(record, fields) ?? (isMoved && 'calendar_id');
    if (wholeField)
      throw invalidField(wholeField, 'whole_event_only', 'changes with scope all or this_and_following only');
    const changes = changesForOne(record, fields, key, calendar.time_zone);
    if (fields.attendees !== undefined)
      changes.participants = await this.writer.participantsAt(tx, ctx, fields.attendees, record, key);
    const changed = changeOne(record, key, changes, now);
    if (!changed) return this.settings.writePlacement(job, key, true);
    const own = withOwn(locked, calendar.id, fields, key);
    const placements =
      fields.attendees === undefined
        ? { entries: own }
        : await this.writer.placements(tx, ctx, changed.record, own, calendar.owner_id);
    const done = await this.commit(job, changed, { ...placements, key });
    return { calendar, record: done.record, entry: entryIn(done.entries, calendar.id), key, later: null };
  }

  private async updateFollowing(
    job: UpdateJob,
    earlier: EventRecord,
    later: EventRecord,
    key: string,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record, entries } = locked;
    if (fields.calendar_id !== undefined && fields.calendar_id !== calendar.id)
      throw invalidField('calendar_id', 'whole_event_only', 'changes with scope all only');
    const id = uuidv7();
    const own = { id, uid: id, split_from: record.id, sequence: 0, dtstamp: now, created_at: now };
    const begun: EventRecord = { ...later, ...own, conference: withoutCall(later.conference) };
    const changes = await this.changes(job, begun, wholeTimes(begun, fields, key, calendar.time_zone));
    const next = changeAll(begun, changes, now)?.record ?? begun;
    assertInstances(next);
    const copies = splitAlarms(withOwn(locked, calendar.id, fields), key).later.map((entry) => ({
      ...entry,
      ...followAlarms(entry, begun, next),
      event_id: id,
      uid: id,
    }));
    const left = splitAlarms(entries, key).earlier;
    const { entries: placed } = await this.writer.placements(tx, ctx, next, copies, calendar.owner_id);
    const parts: EventChange[] = [
      {
        before: record,
        record: earlier,
        ...(await this.writer.placements(tx, ctx, earlier, left, calendar.owner_id)),
        action: 'updated',
        fields: ['rules'],
        messages: messagesFor(record, earlier, '', fields.send_updates),
      },
      {
        before: null,
        record: { ...next, sequence: 0 },
        entries: placed,
        action: 'created',
        messages: messagesFor(null, next, '', fields.send_updates),
      },
    ];
    const [first, second] = (await this.writer.commit(tx, ctx, parts, now)) as [EventChange, EventChange];
    const written = (change: EventChange) => ({
      record: change.record,
      entry: entryIn(change.entries, calendar.id),
    });
    return { calendar, ...written(first), key: null, later: written(second) };
  }

  /** The changes of a request to the whole event, with its attendees. @throws ApiError 422 `rule_not_moved` */
  private async changes(
    { tx, ctx, fields }: UpdateJob,
    record: EventRecord,
    times: Changes['times'],
  ): Promise<Changes> {
    if (times) assertRulesMove(record, fields, times);
    const changes = changesFor(record, fields, times);
    if (fields.attendees === undefined) return changes;
    const participants = await this.writer.participants(
      tx,
      ctx,
      fields.attendees,
      record,
      record.participants,
    );
    return { ...changes, participants };
  }

  private async commit(
    { tx, ctx, locked, fields, now }: UpdateJob,
    { record, fields: names }: Pick<Changed, 'record' | 'fields'>,
    placements: Pick<EventChange, 'entries' | 'removed' | 'key'>,
  ): Promise<EventChange> {
    const before = locked.record;
    const concernsOthers = names.some((name) => !OWN_FIELDS.has(name));
    const messages = concernsOthers
      ? messagesFor(before, record, placements.key ?? '', fields.send_updates)
      : [];
    const change: EventChange = { before, record, ...placements, action: 'updated', fields: names, messages };
    return this.writer.commitOne(tx, ctx, change, now);
  }
}
