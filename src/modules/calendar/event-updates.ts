import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { CalendarErrors, EVENTS } from './calendar.errors.js';
import type { UpdateEvent } from './event.dto.js';
import { eventResponse } from './event.presenter.js';
import { isAtLeast, permissionsOf } from './event-policy.js';
import { type EventRef, instanceKey } from './event-ref.js';
import type { CalendarContext, EventRecord, OwnedEntry, ProposalRow } from './event-record.js';
import { type EventChange, newEntry } from './event-write.js';
import { EventWriter, messagesFor } from './event-writer.js';
import { entryIn, ownReminders, type Written } from './event-operations.js';
import { type Changed, type Changes, changeAll, changeOne } from './events/event-change.js';
import { assertInstances, contentOf, invalidField } from './events/event-patch.js';
import { changesFor, changesForOne, wholeTimes } from './events/requested-changes.js';
import { split } from './events/series-split.js';
import { EventsRepository, type LockedEvent } from './events.repository.js';

/** An event after a change. */
export interface Updated extends Written {
  calendar: CalendarContext;
  /** The changed instance; null: the whole event. */
  key: string | null;
  /** The later part of a series that was split. */
  later: Written | null;
}

/** The change of one event in a transaction. */
interface Job {
  tx: Tx;
  ctx: RequestContext;
  locked: LockedEvent;
  fields: UpdateEvent;
  now: string;
}

/** Fields that only the whole event has. */
const WHOLE_ONLY = [
  'recurrence',
  'rrule',
  'attendees',
  'visibility',
  'proposals_allowed',
  'calendar_id',
] as const;

/** Updates of events, for requests, batches, synchronisation and other domains. */
@Injectable()
export class EventUpdates {
  constructor(
    private readonly events: EventsRepository,
    private readonly writer: EventWriter,
  ) {}

  /**
   * Locks an event of a calendar.
   * @throws ApiError 404
   */
  async locked(tx: Tx, ctx: RequestContext, calendarId: string, eventId: string): Promise<LockedEvent> {
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
    now = new Date().toISOString(),
  ): Promise<Updated> {
    const locked = await this.locked(tx, ctx, calendarId, ref.id);
    const { calendar, record } = locked;
    const permissions = permissionsOf(record, calendar, ctx.userId);
    if (!permissions.see_details || !isAtLeast(calendar.role, 'writer')) throw Errors.forbidden.with();
    const entry = entryIn(locked.entries, calendarId);
    const viewer = { userId: ctx.userId, calendar, readerZone: calendar.time_zone };
    if (expected) await EVENTS.checkWrite(record, expected, body, () => eventResponse(record, entry, viewer));
    const fields = body.value;
    const key = instanceKey(record, ref, fields.recurrence_id);
    const scope = fields.scope ?? (key === null ? 'all' : 'this');
    if (scope !== 'all' && key === null)
      throw invalidField('recurrence_id', 'required', `names the instance for scope ${scope}`);
    const job = { tx, ctx, locked, fields, now };
    if (!permissions.edit) return this.updateOwn(job, key);
    if (scope === 'this') return this.updateOne(job, key as string);
    const parts = scope === 'all' ? null : split(record, key as string, now);
    return parts?.earlier
      ? this.updateFollowing(job, parts.earlier, parts.later, key as string)
      : this.updateAll(job, key);
  }

  private async updateAll(job: Job, key: string | null): Promise<Updated> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record } = locked;
    const changes = await this.changes(job, record, wholeTimes(record, fields, key, calendar.time_zone));
    const changed = changeAll(record, changes, now);
    const target = await this.target(job);
    if (!changed && !target) return this.placed(job, key);
    const next = changed?.record ?? { ...record };
    assertInstances(next);
    const entries = withOwn(locked.entries, calendar.id, fields);
    if (target) moveTo(next, target);
    const current = target ? movedEntries(entries, calendar.id, target) : entries;
    const placements = await this.writer.placements(tx, ctx, next, current, (target ?? calendar).owner_id);
    const removed = target ? [...placements.removed, calendar.id] : placements.removed;
    const done = await this.commit(
      job,
      { record: next, fields: changed?.fields ?? ['calendar_id'], moved: changed?.moved ?? false },
      {
        ...placements,
        removed,
        key: '',
      },
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

  private async updateOne(job: Job, key: string): Promise<Updated> {
    const { locked, fields, now } = job;
    const { calendar, record, entries } = locked;
    for (const name of WHOLE_ONLY)
      if (fields[name] !== undefined)
        throw invalidField(name, 'whole_event_only', 'changes with scope all or this_and_following only');
    const changed = changeOne(record, key, changesForOne(record, fields, key, calendar.time_zone), now);
    if (!changed) return this.placed(job, key);
    const done = await this.commit(job, changed, {
      entries: withOwn(entries, calendar.id, fields),
      removed: [],
      key,
    });
    return { calendar, record: done.record, entry: entryIn(done.entries, calendar.id), key, later: null };
  }

  private async updateFollowing(
    job: Job,
    earlier: EventRecord,
    later: EventRecord,
    key: string,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields, now } = job;
    const { calendar, record, entries } = locked;
    if (fields.calendar_id !== undefined)
      throw invalidField('calendar_id', 'whole_event_only', 'changes with scope all only');
    const id = uuidv7();
    const own = { id, uid: id, split_from: record.id, sequence: 0, dtstamp: now, created_at: now };
    const begun: EventRecord = { ...later, ...own };
    const changes = await this.changes(job, begun, wholeTimes(begun, fields, key, calendar.time_zone));
    const next = changeAll(begun, changes, now)?.record ?? begun;
    assertInstances(next);
    const copies = withOwn(entries, calendar.id, fields).map((entry) => ({
      ...entry,
      event_id: id,
      uid: id,
    }));
    const { entries: placed } = await this.writer.placements(tx, ctx, next, copies, calendar.owner_id);
    const sendUpdates = fields.send_updates ?? 'all';
    const common = { removed: [], key: '', proposals: [] };
    const parts: EventChange[] = [
      {
        ...common,
        before: record,
        record: earlier,
        entries: [...entries],
        action: 'updated',
        fields: ['rules'],
        messages: messagesFor(record, earlier, '', sendUpdates),
      },
      {
        ...common,
        before: null,
        record: { ...next, sequence: 0 },
        entries: placed,
        action: 'created',
        fields: [],
        messages: messagesFor(null, next, '', sendUpdates),
      },
    ];
    const [first, second] = (await this.writer.commit(tx, ctx, parts, now)) as [EventChange, EventChange];
    const written = (change: EventChange) => ({
      record: change.record,
      entry: entryIn(change.entries, calendar.id),
    });
    return { calendar, ...written(first), key: null, later: written(second) };
  }

  /** The changes of a request to the whole event, with its attendees. */
  private async changes(
    { tx, ctx, fields }: Job,
    record: EventRecord,
    times: Changes['times'],
  ): Promise<Changes> {
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
    { tx, ctx, locked, fields, now }: Job,
    { record, fields: names, moved }: Changed,
    placements: Pick<EventChange, 'entries' | 'removed' | 'key'>,
  ): Promise<EventChange> {
    const before = locked.record;
    const proposals = moved ? await this.outdated(tx, ctx, record, placements.key) : [];
    const messages = messagesFor(before, record, placements.key, fields.send_updates ?? 'all');
    const change: EventChange = {
      before,
      record,
      ...placements,
      proposals,
      action: 'updated',
      fields: names,
      messages,
    };
    return ((await this.writer.commit(tx, ctx, [change], now)) as [EventChange])[0];
  }

  /** Pending proposals for times that have changed: accepted where the new time is theirs. */
  private async outdated(
    tx: Tx,
    ctx: RequestContext,
    record: EventRecord,
    key: string,
  ): Promise<ProposalRow[]> {
    if (record.participants.length === 0) return [];
    const all = await this.events.proposals(tx, ctx.tenantId, record.id);
    const pending = all.filter(
      ({ status, recurrence_key }) => status === 'pending' && (key === '' || recurrence_key === key),
    );
    const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
    const { starts, ends } = { ...record, ...override?.patch };
    return pending.map((proposal) => ({
      ...proposal,
      status: proposal.starts === starts && proposal.ends === ends ? 'accepted' : 'outdated',
    }));
  }

  /** The calendar that the event moves to. @throws ApiError 422, 403 */
  private async target({ tx, ctx, locked, fields }: Job): Promise<CalendarContext | null> {
    const id = fields.calendar_id?.toLowerCase();
    if (id === undefined || id === locked.calendar.id) return null;
    const target = await this.events.context(tx, ctx, id);
    if (!target) throw invalidField('calendar_id', 'unknown_calendar', 'is not one of your calendars');
    if (!isAtLeast(target.role, 'writer')) throw Errors.forbidden.with();
    return target;
  }

  /** An attendee's own settings: reminders, colour, show_as, and the calendar in which the event is shown. */
  private async updateOwn(job: Job, key: string | null): Promise<Updated> {
    const { ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const { color: _color, show_as: _showAs, ...shared } = contentOf(fields);
    const others = {
      ...shared,
      ...pick(fields, ['start', 'end', 'duration', 'recurrence', 'rrule', 'attendees', 'proposals_allowed']),
    };
    if (Object.keys(others).length > 0) throw CalendarErrors.notOrganizer.with();
    const target = await this.target(job);
    if (target && (target.owner_id !== ctx.userId || calendar.owner_id !== ctx.userId))
      throw Errors.forbidden.with();
    return target ? this.placed(job, key, target) : this.placed(job, key, undefined, record);
  }

  /** Writes only the settings of the placement. */
  private async placed(
    job: Job,
    key: string | null,
    target?: CalendarContext,
    own?: EventRecord,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const before = entryIn(locked.entries, calendar.id);
    const settings = own || target ? pickOwn(fields) : {};
    const entry: OwnedEntry = {
      ...before,
      ...settings,
      ...ownReminders(fields.reminders),
      ...(target && { calendar_id: target.id }),
    };
    if (JSON.stringify(entry) !== JSON.stringify(before))
      await this.writer.commitEntry(tx, ctx, record, entry, target && calendar.id);
    return { calendar: target ?? calendar, record, entry, key, later: null };
  }
}

const pickOwn = ({ color, show_as }: UpdateEvent): Partial<OwnedEntry> => ({
  ...(color !== undefined && { color: color?.toLowerCase() ?? null }),
  ...(show_as !== undefined && { show_as }),
});

function pick(fields: UpdateEvent, names: readonly (keyof UpdateEvent)[]): object {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** The placements with the reminders of the request in this calendar. */
const withOwn = (
  entries: readonly OwnedEntry[],
  calendarId: string,
  { reminders }: UpdateEvent,
): OwnedEntry[] =>
  entries.map((entry) =>
    entry.calendar_id === calendarId ? { ...entry, ...ownReminders(reminders) } : entry,
  );

/** An event without attendees belongs to the owner of its new calendar. */
function moveTo(record: EventRecord, target: CalendarContext): void {
  record.origin_calendar_id = target.id;
  if (record.participants.length > 0) return;
  record.organizer_id = target.owner_id;
  record.organizer_email = target.owner_email.toLowerCase();
  record.organizer_name = target.owner_name;
}

function movedEntries(entries: readonly OwnedEntry[], from: string, target: CalendarContext): OwnedEntry[] {
  const own = { ...newEntry({ id: '', uid: '' } as EventRecord, target.id, target.owner_id) };
  return entries
    .filter((entry) => entry.calendar_id !== target.id)
    .map((entry) =>
      entry.calendar_id === from
        ? { ...own, ...entry, calendar_id: target.id, owner_id: target.owner_id }
        : entry,
    );
}
