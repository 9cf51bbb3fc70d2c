import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { CalendarErrors } from '../../calendar.errors.js';
import { withoutDates, withResponse } from '../../changes/event-change.js';
import { entryIn } from '../../changes/event-operations.js';
import { replyTo } from '../../changes/event-removals.js';
import type { EventMessage } from '../../changes/event-write.js';
import { EventWriter } from '../../changes/event-writer.js';
import type { LockedEvent } from '../../events.repository.js';
import { hasInstancesIn, instanceKeysOf, resourceIn, withoutRemovals } from '../../model/attendance.js';
import { datesOf, differsBeyond, NO_DATES } from './attendee-dates.js';
import { hasEnded, occurrenceOf } from '../../model/event-series.js';
import { participantOf, responseAt } from '../../model/event-policy.js';
import type { CalendarContext, EventRecord, ParticipantRow } from '../../model/event-record.js';
import { ownAlarms } from '../../model/dependent-properties.js';
import { forcedBy } from '../../model/ics/people-parameters.js';
import { storableComponents } from '../../model/ics/storable.js';
import type { ReadEvent } from '../../model/vevent-reader.js';
import { instanceAlarmsAfter, remindersAfter, serverMessages } from './resource-changes.js';

interface Job {
  tx: Tx;
  ctx: RequestContext;
  calendar: CalendarContext;
  locked: LockedEvent;
  /** The event as the calendar has it. */
  own: EventRecord;
  /** Null means that the text has instances of a series only. */
  read: ReadEvent | null;
  now: string;
}

/** Bytes of JSON of the alarms of a placement that are no reminders. */
const ALARM_BYTES = 8 * 1024;

const ANSWERS: ReadonlySet<string> = new Set(['accepted', 'declined', 'tentative']);

/**
 * The responses that the text of a new invitation states for its user (RFC 6638, 3.2.2.2). Calendars are moved between servers by programs:
 * nobody waits for responses to what is over.
 */
export function firstReplies(
  record: EventRecord,
  userId: string,
  read: ReadEvent,
  now: string,
): EventMessage[] {
  const own = record.participants.filter(
    (row) => row.user_id === userId && !row.uninvited && ANSWERS.has(row.response),
  );
  if (own.length === 0 || hasEnded(record, now)) return [];
  // Programs remove RSVP of those who have responded.
  const replies = own.flatMap((row) =>
    isOver(record, row.recurrence_key, now)
      ? []
      : replyTo(record, { ...row, rsvp: true }, row.recurrence_key, ''),
  );
  return serverMessages(replies, read);
}

/** Whether an instance is over, or is none of the event. @param key empty: the whole event, which is not */
function isOver(record: EventRecord, key: string, now: string): boolean {
  const occurrence = key === '' ? undefined : occurrenceOf(record, key, 'UTC');
  return occurrence === null || (occurrence !== undefined && occurrence.end * 1000 <= Date.parse(now));
}

/**
 * Writes of a user who is not the organizer (RFC 6638, 3.2.2): the own response, the own alarms, and the dates that the user removes by
 * EXDATE or takes back. What else programs add for themselves is not stored. An invitation that the user has removed is shown again
 * (3.2.2.2): the event is that of its organizer, and the response stays declined unless the text states another one.
 */
@Injectable()
export class AttendeeWrites {
  constructor(private readonly writer: EventWriter) {}

  /** @throws ApiError 403 `not_organizer` for a change of what the organizer states */
  async write({ tx, ctx, calendar, locked, own, read, now }: Job): Promise<void> {
    const { record, entries } = locked;
    const before = entryIn(entries, calendar.id);
    // A date is declined in the name of the attendee, so other writers of the calendar cannot remove it, as by DELETE; nor do they
    // take the removal of an invitation back.
    const isOwner = ctx.userId === calendar.owner_id;
    const dates =
      before.hidden || !read || !isOwner ? NO_DATES : datesOf(record, own, calendar.owner_id, read);
    const isForeign = before.hidden ? !isOwner : !read || differsBeyond(dates, record, calendar, own, read);
    if (isForeign) throw CalendarErrors.notOrganizer.with();
    const storedAlarms = ownAlarms(record, calendar.id, before.alarms);
    const reminders = read ? remindersAfter(before.reminders, storedAlarms, read) : before.reminders;
    const alarms = storableComponents(read?.alarms ?? [], ALARM_BYTES);
    const instance_alarms = read && instanceAlarmsAfter(before.instance_alarms, reminders, read);
    const isReminded =
      read !== null &&
      (reminders !== before.reminders ||
        instance_alarms !== before.instance_alarms ||
        !isDeepStrictEqual(storedAlarms, alarms));
    const placed = { ...before, ...(isReminded && { reminders, alarms, instance_alarms }), hidden: false };
    const isEmpty = before.hidden && !hasInstancesIn(record, calendar);
    const shown = isEmpty
      ? withoutRemovals(record, calendar.owner_id)
      : withoutRemovals(record, calendar.owner_id, dates.restored);
    const attendee = participantOf(shown, ctx.userId);
    const stored = isEmpty || dates.restored.size > 0 ? resourceIn(shown, calendar) : own;
    const responses =
      attendee && read
        ? responsesOf(stored, attendee, read).filter(({ key }) => !dates.removed.has(key))
        : [];
    const isSame = responses.length + dates.removed.size + dates.restored.size === 0;
    if (isSame && !isEmpty) {
      if (isReminded || before.hidden) await this.writer.commitEntry(tx, ctx, record, placed);
      const isAsked =
        read !== null && forcedBy(read.people, 'REPLY').some(({ name }) => name === 'ORGANIZER');
      const replies = isAsked && attendee ? replyTo(record, attendee, '', '') : [];
      if (read) await this.writer.repeatMessages(tx, ctx, record, serverMessages(replies, read));
      return;
    }
    let after = shown;
    const messages: EventMessage[] = [];
    for (const { key, response } of responses) {
      const { email } = attendee as ParticipantRow;
      after = withResponse(after, email, key, { response, comment: '', responded_at: now });
      messages.push(...replyTo(record, attendee as ParticipantRow, key, ''));
    }
    if (attendee && dates.removed.size > 0) {
      const rows = after.participants.filter(({ email }) => email === attendee.email);
      // The organizer knows dates that are declined already.
      const news = [...dates.removed].filter((key) => responseAt(rows, key)?.response !== 'declined');
      messages.push(...news.flatMap((key) => replyTo(record, attendee, key, '')));
      after = withoutDates(after, attendee.email, dates.removed, now);
    }
    const changed = [...responses.map(({ key }) => key), ...dates.removed, ...dates.restored];
    await this.writer.commitOne(
      tx,
      ctx,
      {
        before: record,
        record: after,
        entries: entries.map((each) => (each === before ? placed : each)),
        proposals: [],
        action: 'responded',
        fields: ['response'],
        key: changed.length === 1 ? changed[0] : '',
        messages: read ? serverMessages(messages, read) : [],
      },
      now,
    );
  }
}

/** The responses that differ from the stored ones: to the whole event, and to instances. */
function responsesOf(
  record: EventRecord,
  { email }: ParticipantRow,
  read: ReadEvent,
): { key: string; response: ParticipantRow['response'] }[] {
  const stored = record.participants.filter((row) => row.email === email);
  const given = read.participants.filter((row) => row.email === email && !row.uninvited);
  const instances = instanceKeysOf(stored);
  const whole = instances ? undefined : given.find(({ recurrence_key: key }) => key === '');
  const found: { key: string; response: ParticipantRow['response'] }[] = [];
  const isNew = (response: string, current: string | undefined): boolean =>
    response !== current && ANSWERS.has(response);
  if (whole && isNew(whole.response, responseAt(stored, null)?.response))
    found.push({ key: '', response: whole.response });
  const rows = instances?.flatMap((key) => {
    const row = responseAt(given, key);
    return row ? [{ ...row, recurrence_key: key }] : [];
  });
  for (const { recurrence_key: key, response } of rows ?? given) {
    if (key === '') continue;
    const current = found.length > 0 && found[0]?.key === '' ? found[0].response : undefined;
    if (isNew(response, current ?? responseAt(stored, key)?.response)) found.push({ key, response });
  }
  return found;
}
