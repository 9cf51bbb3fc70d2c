import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import type { CreateEvent } from '../input/event.dto.js';
import type { CalendarContext, EventRecord, OwnedEntry, ParticipantRow } from '../model/event-record.js';
import { type EventChange, newColumns, newEntry } from './event-write.js';
import { type DuplicateUidError, EventWriter, messagesFor } from './event-writer.js';
import { presentEvent, viewerOf } from '../responses/event.presenter.js';
import { isAtLeast } from '../model/event-policy.js';
import { assertInstances, contentOf, recurrenceOf, timesOf } from '../input/event-patch.js';

/** An event that was written, with the placement in the calendar of the request. */
export interface Written {
  record: EventRecord;
  entry: OwnedEntry;
}

/** Creation of events, for requests, batches, synchronisation and other domains. */
@Injectable()
export class EventOperations {
  constructor(
    private readonly writer: EventWriter,
    private readonly events: EventsRepository,
  ) {}

  /** @throws ApiError 403 `forbidden` */
  assertWriter(calendar: CalendarContext): void {
    if (!isAtLeast(calendar.role, 'writer')) throw Errors.forbidden.with();
  }

  /**
   * The record of a new event.
   * @param participants rows of its attendees
   * @throws ApiError 422 for times and rules
   */
  draft(
    ctx: RequestContext,
    calendar: CalendarContext,
    fields: CreateEvent,
    participants: ParticipantRow[],
    now: string,
  ): EventRecord {
    const id = fields.id?.toLowerCase() ?? uuidv7();
    const times = timesOf(fields, undefined, calendar.time_zone);
    const recurrence = recurrenceOf(fields, times, undefined) ?? { rules: [], added: [], excluded: [] };
    assertInstances({ ...times, ...recurrence });
    return {
      ...EMPTY,
      ...contentOf(fields),
      ...times,
      ...recurrence,
      id,
      uid: fields.uid ?? id,
      origin_calendar_id: calendar.id,
      organizer_id: calendar.owner_id,
      organizer_email: calendar.owner_email.toLowerCase(),
      organizer_name: calendar.owner_name,
      origin: 'internal',
      proposals_allowed: fields.proposals_allowed ?? true,
      sequence: 0,
      dtstamp: now,
      ...newColumns(ctx.userId, now),
      participants,
      overrides: [],
    };
  }

  /** Creates an event. @throws as `draft` and `insert` */
  async create(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    fields: CreateEvent,
  ): Promise<Written> {
    const now = new Date().toISOString();
    const organizer = { organizer_email: calendar.owner_email.toLowerCase() };
    const participants = await this.writer.participants(tx, ctx, fields.attendees ?? [], organizer);
    const record = this.draft(ctx, calendar, fields, participants, now);
    return this.insert(tx, ctx, calendar, record, fields, now);
  }

  /**
   * Writes a new event and its placements: one statement, or two with attendees of the workspace.
   * @throws DuplicateUidError; ApiError 409 `already_exists`
   */
  async insert(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    record: EventRecord,
    { reminders, send_updates }: Pick<CreateEvent, 'reminders' | 'send_updates'>,
    now: string,
  ): Promise<Written> {
    const own = { ...newEntry(record, calendar.id, calendar.owner_id), ...ownReminders(reminders) };
    const placements = await this.writer.placements(tx, ctx, record, [own], calendar.owner_id);
    const messages = messagesFor(null, record, '', send_updates);
    const change: EventChange = { before: null, record, ...placements, action: 'created', messages };
    const done = await this.writer.commitOne(tx, ctx, change, now);
    return { record: done.record, entry: entryIn(done.entries, calendar.id) };
  }

  /** The error 409 `duplicate_uid` with the event of the calendar that has the uid. An invitation that the attendee has removed is not shown. */
  async duplicate(
    reader: Reader,
    ctx: RequestContext,
    calendarId: string,
    { eventId }: DuplicateUidError,
  ): Promise<ApiError> {
    const found = await this.events.find(reader, ctx, calendarId, eventId);
    if (!found) return CalendarErrors.calendarNotFound.with();
    const event = found.record && presentEvent(found, viewerOf(ctx, found.calendar), null);
    return CalendarErrors.duplicateUid.with({ body: { event } });
  }
}

/** The placement in a calendar. */
export const entryIn = (entries: readonly OwnedEntry[], calendarId: string): OwnedEntry =>
  entries.find((entry) => entry.calendar_id === calendarId) as OwnedEntry;

/** The reminders of a new placement. Null means the reminders of the calendar. */
const ownReminders = (reminders: CreateEvent['reminders']): Partial<Pick<OwnedEntry, 'reminders'>> =>
  reminders === undefined ? {} : { reminders: requestedReminders(reminders, null) };

/**
 * The reminders that a request states. Null means the reminders of the calendar. A reminder that stays keeps its alarm.
 * @param before the stored ones
 */
export function requestedReminders(
  reminders: NonNullable<CreateEvent['reminders']> | null,
  before: OwnedEntry['reminders'],
): OwnedEntry['reminders'] {
  const { use_default, overrides = [] } = reminders ?? { use_default: true };
  if (use_default ?? reminders?.overrides === undefined) return null;
  return overrides.map(
    ({ method, minutes }) =>
      before?.find((stored) => stored.method === method && stored.minutes === minutes) ?? { method, minutes },
  );
}

/** The fields of an event that a request does not name. */
export const EMPTY = {
  title: '',
  description: '',
  location: '',
  locations: [],
  status: 'confirmed',
  show_as: 'busy',
  visibility: 'default',
  color: null,
  categories: [],
  conference: null,
  links: [],
  custom: {},
} as const satisfies Partial<EventRecord>;
