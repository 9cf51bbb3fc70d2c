import { isDeepStrictEqual } from 'node:util';
import { fold } from '../../../lib/search-text/index.js';
import { cutText } from '../../../lib/text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { CalendarEvents, type MessageDue } from '../calendar.events.js';
import type {
  EntryRow,
  EventRecord,
  EventRow,
  OverrideRow,
  OwnedEntry,
  ParticipantRow,
  ProposalRow,
} from '../model/event-record.js';
import { participantOf } from '../model/event-policy.js';
import { followAlarms } from '../model/instance-alarms.js';
import { hasInstancesIn, recordIn } from '../model/attendance.js';
import { type Span, spanOf } from '../model/event-series.js';

/** A change of one event: its new state and the parts to write. */
export interface EventChange {
  /** Null means a new event. */
  before: EventRecord | null;
  record: EventRecord;
  /** All placements after the change, without their spans and responses. */
  entries: OwnedEntry[];
  /** Calendars that no longer contain it. */
  removed?: string[];
  /** The calendar whose placement states the alarms of instances by their new keys; the others follow a move of the series. */
  statedIn?: string;
  proposals?: ProposalRow[];
  action: 'created' | 'updated' | 'deleted' | 'responded' | 'proposed';
  /** Names of the changed fields, for the history. */
  fields?: string[];
  /** The changed instance; none: the whole event. */
  key?: string;
  messages?: EventMessage[];
}

/** A message about a change, without what it states of the event. */
export type EventMessage = Pick<
  MessageDue,
  'method' | 'recipient' | 'recurrence_key' | 'comment' | 'proposal_id'
>;

/** The placements of an event after a change. */
export type Placements = Pick<EventChange, 'entries' | 'removed'>;

/** The parameter of `calendar_write`. */
export interface WriteJson {
  calendars: string[];
  /** The calendar of each event that is created, moved or stored again after its deletion. */
  added: string[];
  events: {
    row: EventRow;
    is_new: boolean;
    entries: EntryRow[];
    removed: string[];
    participants?: ParticipantRow[];
    overrides?: OverrideRow[];
    proposals?: ProposalRow[];
    history?: object;
    /** Calendars whose owners the change, a response of somebody else, does not concern. */
    same_tags?: string[];
    /** A user other than the owner who creates the event: their right is checked under the lock of the calendar. */
    writer?: string;
    /** The calendar into which an attendee moves the event. */
    moved_to?: string;
  }[];
  outbox: { type: string; payload: object }[];
}

/** The columns of a new event that no request sets. */
export const newColumns = (userId: string, now: string) =>
  ({
    split_from: null,
    participants_count: 0,
    overrides_count: 0,
    title_key: '',
    revision: 1,
    created_by: userId,
    updated_by: userId,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }) satisfies Partial<EventRow>;

/** A placement without settings of its own. */
export function newEntry(record: EventRow, calendarId: string, ownerId: string): OwnedEntry {
  return {
    calendar_id: calendarId,
    event_id: record.id,
    uid: record.uid,
    span_start: '',
    span_end: '',
    wide: false,
    response: null,
    show_as: null,
    color: null,
    reminders: null,
    hidden: false,
    owner_id: ownerId,
  };
}

/** Numbers the change, and completes columns that follow from others. */
export function finishChange(change: EventChange, ctx: RequestContext, now: string): EventChange {
  const { before, record } = change;
  const finishedRecord: EventRecord = {
    ...record,
    participants_count: record.participants.length,
    overrides_count: record.overrides.length,
    title_key: cutText(fold(record.title), 200),
    revision: before ? before.revision + 1 : 1,
    updated_by: ctx.userId,
    updated_at: now,
  };
  const span = spanOf(finishedRecord);
  const isForeign = foreignResponses(change);
  const entries = change.entries.map((entry) => {
    const response = participantOf(finishedRecord, entry.owner_id)?.response ?? null;
    const hidden = isForeign(entry) ? entry.hidden : isHidden(finishedRecord, entry);
    const followed =
      before && entry.calendar_id !== change.statedIn ? followAlarms(entry, before, finishedRecord) : {};
    return { ...entry, ...followed, ...spanIn(finishedRecord, entry, span), response, hidden };
  });
  return { ...change, record: finishedRecord, entries };
}

/** Tells whether a change is a response of others than the owner of a calendar: nothing that the owner states or is asked has changed. */
function foreignResponses({ before, record, action }: EventChange): (entry: OwnedEntry) => boolean {
  if (before === null || (action !== 'responded' && action !== 'proposed')) return () => false;
  const byUser = ({ participants }: EventRecord) => Map.groupBy(participants, ({ user_id }) => user_id);
  const [rowsBefore, rows] = [byUser(before), byUser(record)];
  return ({ owner_id }) => isDeepStrictEqual(rowsBefore.get(owner_id), rows.get(owner_id));
}

/**
 * Whether a calendar does not show the event: its owner removed all instances, or removed the event, which declines it, and has not been
 * asked again since.
 */
function isHidden(record: EventRecord, { calendar_id: id, owner_id, hidden }: OwnedEntry): boolean {
  const own = record.participants.filter(({ user_id, uninvited }) => user_id === owner_id && !uninvited);
  const isRemoved = ({ removed }: ParticipantRow): boolean => removed;
  if (!hidden && !own.some(isRemoved)) return false;
  const takesPart = own.some((row) => !row.removed && row.response !== 'declined');
  return !hasInstancesIn(record, { id, owner_id }) || (hidden && !takesPart);
}

/** The span of an event in a calendar. It covers the instances to which the owner of the calendar is invited. */
function spanIn(
  record: EventRecord,
  { calendar_id: id, owner_id }: OwnedEntry,
  whole: Span | null,
): Span | null {
  const own = recordIn(record, { id, owner_id });
  return own === record ? whole : (spanOf(own) ?? whole);
}

/** The JSON of changes that `finished` has completed. */
export function writeJson(changes: readonly EventChange[], ctx: RequestContext, now: string): WriteJson {
  const calendars = changes.flatMap(({ entries, removed = [] }) => [
    ...entries.map((entry) => entry.calendar_id),
    ...removed,
  ]);
  return {
    calendars: [...new Set(calendars)],
    added: changes.flatMap(({ before, record: { origin_calendar_id: id } }) =>
      before?.origin_calendar_id === id && before.deleted_at === null ? [] : [id],
    ),
    events: changes.map((change) => eventJson(change, ctx, now)),
    outbox: changes.flatMap((change) => outboxOf(change, ctx)),
  };
}

function eventJson(change: EventChange, ctx: RequestContext, now: string): WriteJson['events'][number] {
  const { before, record, entries, removed = [], proposals, action, fields = [], key = '' } = change;
  const { participants, overrides, ...row } = record;
  const origin = entries.find((entry) => entry.calendar_id === record.origin_calendar_id);
  const sameTags = entries.filter(foreignResponses(change)).map((entry) => entry.calendar_id);
  return {
    row,
    is_new: before === null,
    ...(before === null && origin && origin.owner_id !== ctx.userId && { writer: ctx.userId }),
    entries,
    removed,
    ...(sameTags.length > 0 && { same_tags: sameTags }),
    ...((before === null ? participants.length > 0 : before.participants !== participants) && {
      participants,
    }),
    ...((before === null ? overrides.length > 0 : before.overrides !== overrides) && { overrides }),
    ...(proposals && proposals.length > 0 && { proposals }),
    history: {
      revision: record.revision,
      actor_id: ctx.userId,
      action,
      recurrence_key: key,
      fields,
      created_at: now,
    },
  };
}

function outboxOf({ record, action, messages = [] }: EventChange, ctx: RequestContext): WriteJson['outbox'] {
  const item = { event_id: record.id, revision: record.revision, actor_id: ctx.userId };
  const type = action === 'created' || action === 'deleted' ? CalendarEvents[action] : CalendarEvents.updated;
  const due = messages.map((message) => ({
    type: CalendarEvents.messageDue,
    payload: { ...item, sequence: record.sequence, dtstamp: record.dtstamp, ...message } satisfies MessageDue,
  }));
  return [{ type, payload: item }, ...due];
}
