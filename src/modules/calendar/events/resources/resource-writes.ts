import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { propertiesOf } from '../../../../lib/icalendar/index.js';
import { addressOfPerson } from '../../../../lib/itip/index.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../../platform/database/database-errors.js';
import { Db } from '../../../../platform/database/db.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Checked } from '../../../../platform/http/input.pipe.js';
import { CalendarErrors } from '../../calendar.errors.js';
import { EventBatch } from '../../changes/event-batch.js';
import { entryIn, EventOperations } from '../../changes/event-operations.js';
import { EventRemovals } from '../../changes/event-removals.js';
import type { EventChange } from '../../changes/event-write.js';
import { EventWriter, messagesFor } from '../../changes/event-writer.js';
import { EventsRepository } from '../../events.repository.js';
import { DeleteEvent } from '../../input/event.dto.js';
import { attendeesAt, resourceIn } from '../../model/attendance.js';
import { permissionsOf } from '../../model/event-policy.js';
import type { CalendarContext, EventRecord, ParticipantRow } from '../../model/event-record.js';
import { ownAlarms } from '../../model/dependent-properties.js';
import type { ReadEvent } from '../../model/vevent-reader.js';
import {
  asExported,
  createdEvent,
  compareEvents,
  fileEvent,
  replaceValues,
  withInstances,
} from '../imported-event.js';
import type { FileEvent } from '../ics-file.js';
import { AttendeeWrites, firstReplies } from './attendee-writes.js';
import {
  afterMove,
  concernsAttendees,
  DeletedEvents,
  forcedRequests,
  instanceAlarmsAfter,
  invitations,
  remindersAfter,
  revived,
  serverMessages,
  withoutForeignResponses,
} from './resource-changes.js';
import { EventResourcesRepository } from './event-resources.repository.js';
import { checked, checkedDates, singleEvent } from './single-event.js';

/**
 * Decides about a write under the lock of the event.
 * @param version of the event with this UID; null: the calendar has no such event, or its owner has removed the invitation
 * @param tag as `EventName` has it
 * @throws to stop the write
 */
export type VersionCheck = (version: number | null, uid: string, tag: number | null) => void;

/** What a write has stored. */
export interface StoredEvent {
  /** Whether the event is new in the calendar. */
  isNew: boolean;
  /** As `EventName` has it. */
  tag: number | null;
}

/** A write of one event in a transaction. */
interface Job {
  tx: Tx;
  ctx: RequestContext;
  calendar: CalendarContext;
  event: FileEvent;
  now: string;
}

/** Writes of whole events with their instances, as CalDAV programs send them. */
@Injectable()
export class ResourceWrites {
  constructor(
    private readonly events: EventsRepository,
    private readonly resources: EventResourcesRepository,
    private readonly operations: EventOperations,
    private readonly batch: EventBatch,
    private readonly writer: EventWriter,
    private readonly attendee: AttendeeWrites,
    private readonly removals: EventRemovals,
    private readonly deleted: DeletedEvents,
    private readonly db: Db,
  ) {}

  /**
   * Creates or replaces an event. Invitations, cancellations and replies follow as after a request of the HTTP API. An event that
   * differs in nothing is not written. An invitation that the attendee has removed is shown again, as its organizer states it.
   * @param text iCalendar with one event
   * @param created runs in the transaction of an event that is new in the calendar
   * @throws ApiError 404; 403 `forbidden`, `not_organizer`; 422 `invalid_ics`, `unknown_user` and those of rules
   */
  async put(
    ctx: RequestContext,
    calendarId: string,
    text: Uint8Array,
    check: VersionCheck,
    created?: (tx: Tx, uid: string) => Promise<void>,
  ): Promise<StoredEvent> {
    const calendar = await this.events.calendar(this.db, ctx, calendarId);
    this.operations.assertWriter(calendar);
    const event = await singleEvent(text, calendar.time_zone);
    return this.db.tx(async (tx) => {
      const isNew = await this.write(tx, ctx, calendarId, event, check);
      if (isNew) await created?.(tx, event.uid);
      const hasTag = addressesOf(event).length > 0;
      const stored = hasTag ? await this.resources.version(tx, ctx.tenantId, calendarId, event.uid) : null;
      return { isNew, tag: stored?.tag ?? null };
    });
  }

  /** Whether the calendar shows an event with this UID. */
  async contains(tenantId: string, calendarId: string, uid: string): Promise<boolean> {
    return (await this.resources.version(this.db, tenantId, calendarId, uid)) !== null;
  }

  /** Those of the UIDs whose events the calendar contains. Invitations that their attendee has removed are among them. */
  async knownUids(tenantId: string, calendarId: string, uids: readonly string[]): Promise<Set<string>> {
    return new Set((await this.events.idsOfUids(this.db, tenantId, calendarId, uids)).keys());
  }

  /**
   * Deletes an event; an attendee declines it.
   * @param isSilent an attendee only removes it, without a response
   * @throws ApiError 404, 403
   */
  async remove(
    ctx: RequestContext,
    calendarId: string,
    uid: string,
    check: VersionCheck,
    isSilent = false,
  ): Promise<void> {
    await this.db.tx(async (tx) => {
      // Before the event: the answer does not tell what an unreadable calendar contains.
      await this.events.calendar(tx, ctx, calendarId);
      const found = await this.resources.version(tx, ctx.tenantId, calendarId, uid);
      if (!found) throw CalendarErrors.eventNotFound.with();
      await this.batch.lock(tx, ctx, calendarId, [{ op: 'delete', event_id: found.id }]);
      const current = await this.resources.version(tx, ctx.tenantId, calendarId, uid);
      check(current?.version ?? null, uid, current?.tag ?? null);
      const ref = { id: found.id, instance: null };
      await this.removals.remove(tx, ctx, calendarId, ref, null, Checked.of(DeleteEvent, {}), isSilent);
    });
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    calendarId: string,
    event: FileEvent,
    check: VersionCheck,
  ): Promise<boolean> {
    const ids = await this.events.idsOfUids(tx, ctx.tenantId, calendarId, [event.uid]);
    const eventId = ids.get(event.uid);
    // Before the calendars, as every other write.
    const deletedId =
      eventId === undefined ? await this.deleted.lock(tx, ctx.tenantId, calendarId, event.uid) : null;
    const lockedId = eventId ?? deletedId;
    const attendees = addressesOf(event);
    const calendar = await this.batch.lock(tx, ctx, calendarId, [
      { op: 'create', ...(lockedId !== null && { event_id: lockedId }), event: { attendees } },
    ]);
    this.operations.assertWriter(calendar);
    // Another request may have written the UID before the lock: the transaction is repeated.
    if (!isDeepStrictEqual(await this.events.idsOfUids(tx, ctx.tenantId, calendarId, [event.uid]), ids))
      throw new ConcurrentChangeError('uids');
    const current = await this.resources.version(tx, ctx.tenantId, calendarId, event.uid);
    check(current?.version ?? null, event.uid, current?.tag ?? null);
    const job = { tx, ctx, calendar, event, now: new Date().toISOString() };
    if (eventId === undefined) await this.create(job, deletedId);
    else await this.update(job, eventId);
    return current === null;
  }

  /** @param deletedId the event with this UID that the organizer has deleted; null without one */
  private async create({ tx, ctx, calendar, event, now }: Job, deletedId: string | null): Promise<void> {
    const given = checkedDates(event, () => fileEvent(event, null, true)) as ReadEvent;
    const reminders = remindersAfter(null, [], given);
    const instanceAlarms = instanceAlarmsAfter(null, reminders, given) ?? {};
    const read = { ...given, reminders, instanceAlarms };
    const emails = [...read.participants.map(({ email }) => email), read.organizer?.email ?? ''];
    const members = await this.events.memberIds(tx, ctx.tenantId, emails.filter(Boolean));
    const made = checked(() => createdEvent(ctx.userId, calendar, members, read, now));
    const { record } = made;
    if (record.origin !== 'internal') {
      const messages = ctx.userId === calendar.owner_id ? firstReplies(record, ctx.userId, read, now) : [];
      await this.writer.commitOne(tx, ctx, { ...made, messages }, now);
      return;
    }
    record.participants = withoutForeignResponses(record.participants, calendar.owner_id);
    const deleted = deletedId === null ? null : await this.deleted.read(tx, ctx.tenantId, deletedId);
    const change = deleted === null ? made : checked(() => revived(deleted, made, read, now));
    const next = change.record;
    const placements = await this.writer.placements(tx, ctx, next, change.entries, calendar.owner_id);
    const messages = serverMessages(messagesFor(null, next, ''), read);
    await this.writer.commitOne(tx, ctx, { ...change, ...placements, messages }, now);
  }

  private async update(job: Job, eventId: string): Promise<void> {
    const { tx, ctx, calendar } = job;
    const locked = await this.events.lock(tx, ctx, calendar.id, eventId);
    if (!locked?.record) throw new ConcurrentChangeError('event');
    const { record, entries } = locked;
    const before = entryIn(entries, calendar.id);
    const permissions = permissionsOf(record, calendar, ctx.userId);
    if (!permissions.see_details) throw Errors.forbidden.with();
    if (!permissions.edit || before.hidden) {
      const own = resourceIn(record, calendar);
      const read = checkedDates(job.event, () => fileEvent(job.event, own));
      return this.attendee.write({ ...job, locked, own, read });
    }
    const read = checkedDates(job.event, () => fileEvent(job.event, record, true));
    const next = checkedDates(job.event, () =>
      read ? replaceValues(record, read) : withInstances(record, job.event),
    );
    if (read) next.participants = await this.participants(job, record, read);
    const fields = compareEvents(record, next);
    if (next.participants !== record.participants) fields.push('attendees');
    const alarms = ownAlarms(record, calendar.id, before.alarms);
    const reminders = read ? remindersAfter(before.reminders, alarms, read) : before.reminders;
    const instance_alarms = read
      ? instanceAlarmsAfter(before.instance_alarms, reminders, read)
      : before.instance_alarms;
    const isReminded = reminders !== before.reminders || instance_alarms !== before.instance_alarms;
    const own = isReminded ? { ...before, reminders, instance_alarms } : before;
    if (fields.length === 0) {
      if (isReminded) await this.writer.commitEntry(tx, ctx, record, own);
      if (read) await this.writer.repeatMessages(tx, ctx, record, forcedRequests(record, read));
      return;
    }
    await this.replace(job, read, {
      record,
      next,
      fields,
      entries: entries.map((each) => (each === before ? own : each)),
    });
  }

  private async replace(
    { tx, ctx, calendar, now }: Job,
    read: ReadEvent | null,
    change: { record: EventRecord; next: EventRecord; fields: string[]; entries: EventChange['entries'] },
  ): Promise<void> {
    const { record, next, fields } = change;
    const isStated = concernsAttendees(record, next, fields);
    const after: EventRecord = {
      ...next,
      participants: afterMove(record, next),
      sequence: isStated ? Math.max(next.sequence, record.sequence + 1) : record.sequence,
      dtstamp: now,
      overrides: stamped(record, next, now),
    };
    const placements = await this.writer.placements(tx, ctx, after, change.entries, calendar.owner_id);
    const stated = isStated && read ? serverMessages(messagesFor(record, after, ''), read, record) : [];
    const asked = read ? forcedRequests(after, read) : [];
    const messages = stated.length > 0 ? stated : asked;
    await this.writer.commitOne(
      tx,
      ctx,
      {
        before: record,
        record: after,
        ...placements,
        ...(read && { statedIn: calendar.id }),
        action: 'updated',
        fields,
        messages,
      },
      now,
    );
  }

  /** The attendees after a write. Those who stay keep their responses: only they change them. */
  private async participants(
    { tx, ctx }: Job,
    record: EventRecord,
    read: ReadEvent,
  ): Promise<ParticipantRow[]> {
    const exported = asExported(record).participants;
    if (isDeepStrictEqual(invitations(exported), invitations(read.participants))) return record.participants;
    const whole = (rows: readonly ParticipantRow[]) => rows.filter(({ recurrence_key: key }) => key === '');
    const isSame = isDeepStrictEqual(invitations(whole(exported)), invitations(whole(read.participants)));
    let { participants } = record;
    if (!isSame)
      participants = await this.writer.participants(
        tx,
        ctx,
        fieldsOf(whole(read.participants)),
        record,
        participants,
      );
    const file = { ...record, participants: read.participants };
    for (const key of keysOf([...exported, ...read.participants])) {
      const at = (rows: readonly ParticipantRow[]) => rows.filter((row) => row.recurrence_key === key);
      if (isDeepStrictEqual(invitations(at(exported)), invitations(at(read.participants)))) continue;
      const wanted = fieldsOf(attendeesAt(file, key));
      participants = await this.writer.participantsAt(tx, ctx, wanted, { ...record, participants }, key);
    }
    return participants;
  }
}

const keysOf = (rows: readonly ParticipantRow[]): Set<string> =>
  new Set(rows.flatMap(({ recurrence_key: key }) => (/^\d/.test(key) ? [key] : [])));

const fieldsOf = (rows: readonly ParticipantRow[]) =>
  rows.map(({ email, name, role, kind, rsvp }) => ({ email, name, role, kind, rsvp }));

/** Addresses of the attendees, as their participants have them, for the locks of their calendars. */
const addressesOf = ({ master, instances }: FileEvent): string[] =>
  [...(master ? [master] : []), ...instances].flatMap((event) =>
    propertiesOf(event, 'ATTENDEE').flatMap((attendee) => addressOfPerson(attendee) ?? []),
  );

/** Changed instances have the time of the write: programs state another DTSTAMP, or none. */
function stamped(before: EventRecord, { overrides }: EventRecord, now: string): EventRecord['overrides'] {
  const known = new Map(before.overrides.map(({ recurrence_key: key, patch }) => [key, patch]));
  return overrides.map((row) =>
    isDeepStrictEqual(known.get(row.recurrence_key), row.patch) ? row : { ...row, dtstamp: now },
  );
}
