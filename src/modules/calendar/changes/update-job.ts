import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { EventsRepository, LockedEvent } from '../events.repository.js';
import { invalidField } from '../input/event-patch.js';
import type { UpdateEvent } from '../input/event.dto.js';
import { isAtLeast } from '../model/event-policy.js';
import type { CalendarContext, EventRecord, OwnedEntry } from '../model/event-record.js';
import type { Written } from './event-operations.js';
import { newEntry } from './event-write.js';

/** An event after a change. */
export interface Updated extends Written {
  calendar: CalendarContext;
  /** The changed instance; null: the whole event. */
  key: string | null;
  /** The later part of a series that was split. */
  later: Written | null;
}

/** The change of one event in a transaction. */
export interface UpdateJob<Fields = UpdateEvent> {
  tx: Tx;
  ctx: RequestContext;
  locked: LockedEvent;
  fields: Fields;
  now: string;
}

/** The calendar that the event moves to; null: it stays. @throws ApiError 422 `unknown_calendar`; 403 */
export async function moveTarget(
  events: EventsRepository,
  { tx, ctx, locked, fields }: UpdateJob,
): Promise<CalendarContext | null> {
  const id = fields.calendar_id?.toLowerCase();
  if (id === undefined || id === locked.calendar.id) return null;
  const target = await events.context(tx, ctx, id);
  if (!target) throw invalidField('calendar_id', 'unknown_calendar', 'is not one of your calendars');
  if (!isAtLeast(target.role, 'writer')) throw Errors.forbidden.with();
  return target;
}

/** An event without attendees belongs to the owner of its new calendar. */
export function moveTo(record: EventRecord, target: CalendarContext): void {
  record.origin_calendar_id = target.id;
  if (record.participants.length > 0) return;
  record.organizer_id = target.owner_id;
  record.organizer_email = target.owner_email.toLowerCase();
  record.organizer_name = target.owner_name;
}

/** The placements of an event that moves from one calendar to another one. */
export function movedEntries(
  entries: readonly OwnedEntry[],
  from: string,
  target: CalendarContext,
): OwnedEntry[] {
  const own = { ...newEntry({ id: '', uid: '' } as EventRecord, target.id, target.owner_id) };
  return entries
    .filter((entry) => entry.calendar_id !== target.id)
    .map((entry) =>
      entry.calendar_id === from
        ? { ...own, ...entry, calendar_id: target.id, owner_id: target.owner_id }
        : entry,
    );
}
