import { type Component, propertiesOf, propertyOf } from '../../../../lib/icalendar/index.js';
import type { EventContent, EventTimes, ShowAs } from '../../model/event-record.js';
import { BUSY_STATUS } from '../../model/vevent.js';
import { contentOfVevent } from '../../model/vevent-content.js';
import type { Incoming } from './incoming.js';
import { EventClock, type Recurrence } from '../../model/vevent-times.js';

const MAX_URL = 2_048;
/** Properties of Google and Microsoft with the address of a conference. */
const CONFERENCE = ['X-GOOGLE-CONFERENCE', 'X-MICROSOFT-SKYPETEAMSMEETINGURL'];

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
  const start = clock.start(event);
  const times = clock.times(event, start);
  const content = contentOfVevent(event);
  return {
    content: {
      ...content,
      show_as: intended(event) ?? content.show_as,
      conference: content.conference ?? conferenceOf(event),
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

function conferenceOf(event: Component): EventContent['conference'] {
  const urls = CONFERENCE.flatMap((name) => propertiesOf(event, name).map(({ value }) => value.trim()));
  const url = urls.find((text) => /^https?:\/\/[^\s\p{Cc}]+$/u.test(text) && text.length <= MAX_URL);
  return url === undefined ? null : { kind: 'link', url: url.toWellFormed(), room_id: null };
}
