import { Injectable } from '@nestjs/common';
import { addressForms } from '../../../lib/text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Errors } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { quotaExceeded } from '../../../platform/quotas/row-quota.js';
import { CalendarErrors } from '../calendar.errors.js';
import { CalendarEvents, type MessageDue } from '../calendar.events.js';
import type { AttendeeFields, SendUpdates } from '../input/event-fields.dto.js';
import {
  attendeesAt,
  instanceAttendees,
  outsideAttendees,
  wholeOf,
  withAttendeesAt,
} from '../model/attendance.js';
import {
  type EventRecord,
  NEW_PARTICIPANT,
  type OwnedEntry,
  type ParticipantRow,
  type ProposalRow,
} from '../model/event-record.js';
import { closedProposals, mayMove } from './event-change.js';
import { EventCalls } from './event-calls.js';
import {
  type EventChange,
  type EventMessage,
  finishChange,
  newEntry,
  type Placements,
  writeJson,
} from './event-write.js';
import { EventsRepository, type MemberRow, membersAt } from '../events.repository.js';

/** The calendar contains another event with this uid. */
export class DuplicateUidError extends Error {
  constructor(readonly eventId: string) {
    super('duplicate uid');
  }
}

type Organizer = Pick<EventRecord, 'organizer_email'>;

/** Attendees, placements and the write of events, for all changes of events. */
@Injectable()
export class EventWriter {
  constructor(
    private readonly events: EventsRepository,
    private readonly outbox: Outbox,
    private readonly calls: EventCalls,
  ) {}

  /**
   * Makes rows of the attendees of a request. Members of the workspace are found by id or address.
   * @param current attendees, whose responses stay. They may have left the workspace, or have another address now
   * @throws ApiError 422 `unknown_user`
   */
  async participants(
    reader: Reader,
    ctx: RequestContext,
    attendees: readonly AttendeeFields[],
    { organizer_email }: Organizer,
    current: readonly ParticipantRow[] = [],
  ): Promise<ParticipantRow[]> {
    const named = attendees.map((fields) => ({ fields, ...nameOf(fields) }));
    const ids = named.flatMap(({ userId }) => userId ?? []);
    const emails = named.flatMap(({ email }) => email || []);
    const members = await this.events.members(reader, ctx.tenantId, ids, emails);
    const byId = new Map(members.map((member) => [member.user_id, member]));
    const byEmail = membersAt(members, emails);
    const present = new Map(
      current.flatMap((row) => (row.recurrence_key === '' && row.user_id ? [[row.user_id, row]] : [])),
    );
    const unknown = named.flatMap(({ userId }, n) =>
      userId && !byId.has(userId) && !present.has(userId) ? [n] : [],
    );
    if (unknown.length > 0)
      throw CalendarErrors.unknownUser.with({
        details: unknown.map((n) => ({
          field: `attendees.${n}`,
          code: 'unknown_user',
          message: 'is not an active member of this workspace',
        })),
      });
    const rows = new Map<string, ParticipantRow>();
    for (const { fields, userId, email } of named) {
      const member = userId ? byId.get(userId) : byEmail.get(email);
      const previous =
        present.get(userId ?? member?.user_id ?? '') ?? wholeInAnyForm(current, member?.email ?? email);
      const address =
        previous?.email ?? member?.email ?? addressForms(email).find((form) => rows.has(form)) ?? email;
      rows.set(address, participant(address, fields, member, previous, organizer_email));
    }
    // Attendees of some instances stay: a request about the whole event does not name them.
    const ofInstances = current.filter(
      (row) => row.recurrence_key !== '' && (rows.has(row.email) || !wholeOf(current, row.email)),
    );
    return [...rows.values(), ...ofInstances];
  }

  /**
   * Makes rows of the attendees of one instance. Other attendees of the event are not invited to it.
   * @returns all rows of the event
   * @throws ApiError 422 `unknown_user`
   */
  async participantsAt(
    reader: Reader,
    ctx: RequestContext,
    attendees: readonly AttendeeFields[],
    record: EventRecord,
    key: string,
  ): Promise<ParticipantRow[]> {
    const current = attendeesAt(record, key).map((row) => ({ ...row, recurrence_key: '' }));
    return withAttendeesAt(record, key, await this.participants(reader, ctx, attendees, record, current));
  }

  /**
   * The placements of an event: in its own calendar, and in a calendar of each attendee of the workspace. Placements that an
   * attendee has moved to another calendar stay there.
   */
  async placements(
    tx: Tx,
    ctx: RequestContext,
    record: EventRecord,
    current: readonly OwnedEntry[],
    ownerId: string,
  ): Promise<Required<Placements>> {
    const origin =
      current.find((entry) => entry.calendar_id === record.origin_calendar_id) ??
      newEntry(record, record.origin_calendar_id, ownerId);
    const attendees = new Set(
      record.participants.flatMap(({ user_id, uninvited }) => (uninvited ? [] : (user_id ?? []))),
    );
    attendees.delete(ownerId);
    const others = current.filter(
      (entry) => entry.calendar_id !== record.origin_calendar_id && attendees.has(entry.owner_id),
    );
    const placed = new Set(others.map((entry) => entry.owner_id));
    const missing = [...attendees].filter((userId) => !placed.has(userId));
    const defaults = await this.events.defaultCalendars(tx, ctx.tenantId, missing);
    const added = [...defaults].map(([userId, calendarId]) => newEntry(record, calendarId, userId));
    const entries = [origin, ...others, ...added];
    const kept = new Set(entries.map((entry) => entry.calendar_id));
    const removed = current.map((entry) => entry.calendar_id).filter((id) => !kept.has(id));
    return { entries, removed };
  }

  /**
   * Writes changes with their history, feeds and outbox. Closes the proposals about times that change.
   * @returns the changes as they are stored
   * @throws DuplicateUidError; ApiError 404, 403 where the caller no longer writes in the calendar, 409 `already_exists`,
   *   `quota_exceeded`
   */
  async commit(
    tx: Tx,
    ctx: RequestContext,
    changes: readonly EventChange[],
    now: string,
  ): Promise<EventChange[]> {
    const done: EventChange[] = [];
    for (const change of changes) {
      const proposals = [...(change.proposals ?? []), ...(await this.closedProposals(tx, ctx, change))];
      done.push(finishChange({ ...(await this.calls.apply(tx, ctx, change)), proposals }, ctx, now));
    }
    this.outbox.notice(tx);
    assertWritten(await this.events.write(tx, ctx.tenantId, writeJson(done, ctx, now)));
    return done;
  }

  /** Sends messages about an event that does not change, also those that have been sent about this version. */
  async repeatMessages(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    { id, revision, sequence, dtstamp }: EventRecord,
    messages: readonly EventMessage[],
  ): Promise<void> {
    const item = { event_id: id, revision, actor_id: userId, sequence, dtstamp, repeat: true };
    for (const message of messages)
      await this.outbox.append(tx, {
        tenantId,
        type: CalendarEvents.messageDue,
        payload: { ...item, ...message } satisfies MessageDue,
      });
  }

  /** Commits one change. */
  async commitOne(tx: Tx, ctx: RequestContext, change: EventChange, now: string): Promise<EventChange> {
    return (await this.commit(tx, ctx, [change], now))[0]!;
  }

  private async closedProposals(
    tx: Tx,
    { tenantId }: RequestContext,
    { before, record }: EventChange,
  ): Promise<ProposalRow[]> {
    if (!before || before.participants_count === 0 || !mayMove(before, record)) return [];
    return closedProposals(await this.events.proposals(tx, tenantId, record.id), before, record);
  }

  /**
   * Writes the settings of a placement, which do not change the event.
   * @param from the calendar that the placement leaves
   * @throws DuplicateUidError; ApiError 409 `quota_exceeded`
   */
  async commitEntry(
    tx: Tx,
    ctx: RequestContext,
    record: EventRecord,
    entry: OwnedEntry,
    from?: string,
  ): Promise<void> {
    const { participants: _participants, overrides: _overrides, ...row } = record;
    const removed = from === undefined ? [] : [from];
    const moved_to = from === undefined ? undefined : entry.calendar_id;
    const event = { row, is_new: false, entries: [entry], removed, moved_to };
    const calendars = [entry.calendar_id, ...removed];
    const added = moved_to === undefined ? [] : [moved_to];
    assertWritten(
      await this.events.write(tx, ctx.tenantId, { calendars, added, events: [event], outbox: [] }),
    );
  }
}

function assertWritten(outcome: string): void {
  const [code, id = ''] = outcome.split(' ');
  if (code === 'duplicate_uid') throw new DuplicateUidError(id);
  if (code === 'already_exists') throw CalendarErrors.eventExists.with();
  if (code === 'not_found') throw CalendarErrors.calendarNotFound.with();
  if (code === 'forbidden') throw Errors.forbidden.with();
  if (code === 'calendar_full') throw quotaExceeded('item.events_of_calendar');
  // A calendar was deleted after it was read.
  if (code !== 'ok') throw new ConcurrentChangeError(outcome);
}

function nameOf({ id, user_id, email }: AttendeeFields): { userId: string | null; email: string } {
  const userId = user_id ?? (isUuid(id) ? id : null);
  return { userId: userId && userId.toLowerCase(), email: userId ? '' : (email ?? id ?? '').toLowerCase() };
}

/** The row of an attendee for the series, whose address may have another spelling. */
const wholeInAnyForm = (rows: readonly ParticipantRow[], email: string): ParticipantRow | undefined =>
  addressForms(email)
    .map((form) => wholeOf(rows, form))
    .find((row) => row !== undefined);

function participant(
  email: string,
  fields: AttendeeFields,
  member: MemberRow | undefined,
  previous: ParticipantRow | undefined,
  organizerEmail: string,
): ParticipantRow {
  const organizer = email === organizerEmail && { response: 'accepted' as const };
  const row = { ...NEW_PARTICIPANT, ...organizer, ...previous };
  return {
    ...row,
    recurrence_key: '',
    email,
    user_id: member?.user_id ?? row.user_id,
    name: member?.name ?? fields.name ?? row.name,
    role: fields.role ?? row.role,
    kind: fields.kind ?? row.kind,
    rsvp: fields.rsvp ?? row.rsvp,
    uninvited: false,
  };
}

/** Addresses outside of the workspace that are invited to some instances only, with the keys of these instances. */
const instancesOutside = (record: EventRecord): { key: string; email: string }[] =>
  instanceAttendees(record).flatMap(({ user_id, recurrence_key: key, email }) =>
    user_id === null ? [{ key, email }] : [],
  );

/**
 * Messages to the attendees outside the workspace after a change. Attendees of some instances get a message about each of them.
 * @param key of the changed instance; empty: the whole event
 */
export function messagesFor(
  before: EventRecord | null,
  after: EventRecord,
  key: string,
  sendUpdates: SendUpdates = 'all',
  { comment = '', isCancelled = false } = {},
): EventMessage[] {
  if (sendUpdates === 'none' || after.origin !== 'internal') return [];
  const message = (
    method: 'REQUEST' | 'CANCEL',
    recurrence_key: string,
    recipient: string,
  ): EventMessage => ({
    method,
    recipient,
    recurrence_key,
    comment,
    proposal_id: null,
  });
  // A cancelled instance has no attendees any more.
  const invited = isCancelled && key !== '' ? [] : outsideAttendees(after, key);
  const previous = before ? outsideAttendees(before, key) : [];
  const dropped = previous.filter((email) => !invited.includes(email));
  const method = isCancelled ? 'CANCEL' : 'REQUEST';
  const messages = [
    ...invited.map((email) => message(method, key, email)),
    ...dropped.map((email) => message('CANCEL', key, email)),
  ];
  if (key !== '') return messages;
  const instances = instancesOutside(after);
  const isKept = (one: { key: string; email: string }): boolean =>
    instances.some((other) => other.key === one.key && other.email === one.email) ||
    invited.includes(one.email);
  return [
    ...messages,
    ...instances.map((one) => message(method, one.key, one.email)),
    ...(before ? instancesOutside(before) : [])
      .filter((one) => !isKept(one))
      .map((one) => message('CANCEL', one.key, one.email)),
  ];
}
