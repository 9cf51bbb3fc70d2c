import { type Component, propertyOf } from '../../../../lib/icalendar/index.js';
import type { EventContent, EventTimes, ShowAs } from '../../model/event-record.js';
import { BUSY_STATUS } from '../../model/vevent.js';
import { contentOfVevent } from '../../model/vevent-content.js';
import type { Incoming } from './incoming.js';
import { EventClock, type Recurrence } from '../../model/vevent-times.js';

/** A VEVENT as the calendar stores it. */
export interface ReadEvent {
  content: Omit<EventContent, keyof EventTimes>;
  times: EventTimes;
  recurrence: Recurrence;
}

/**
 * Reads a VEVENT of a message. Missing properties have their defaults: a message states the whole event.
 * @param byHand of a message that its user applies
 * @throws ICalendarError; RecurrenceError for a rule
 */
export function readEvent(
  event: Component,
  { zones, byHand }: Pick<Incoming, 'zones' | 'byHand'>,
): ReadEvent {
  const clock = new EventClock(zones, byHand?.timeZone ?? null);
  const start = clock.begin(event);
  const times = clock.times(event, start);
  const content = contentOfVevent(event);
  return {
    content: {
      ...content,
      show_as: intended(event) ?? content.show_as,
    },
    times,
    recurrence: clock.recurrence(event, start, times),
  };
}

/** Exchange states the status before the response as BUSYSTATUS, and the one after it as INTENDEDSTATUS. */
function intended(event: Component): ShowAs | null {
  const value = (propertyOf(event, 'X-MICROSOFT-CDO-INTENDEDSTATUS')?.value ?? '').trim().toUpperCase();
  if (value === 'BUSY' || value === 'FREE') return value === 'BUSY' ? 'busy' : 'free';
  const found = Object.entries(BUSY_STATUS).find(([, text]) => text === value);
  return (found?.[0] as ShowAs | undefined) ?? null;
}
