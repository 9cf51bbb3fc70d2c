import { type Component, HTML_DESCRIPTIONS, type Property } from '../../../lib/icalendar/index.js';
import type { EventContent, EventRecord } from './event-record.js';
import { isDay } from './event-times.js';

type Field = keyof EventContent;

/** What an imported event has besides its fields, in `custom`. */
interface Kept {
  /** Properties without a field. */
  ics?: Property[];
  /** Components without a field, such as PARTICIPANT and VLOCATION (RFC 9073). */
  components?: Component[];
  /** Alarms that are no reminders, such as one after the start: see `ownAlarms`. */
  alarms?: Component[];
  /** ORGANIZER and ATTENDEE with the parameters that no column states. */
  people?: Property[];
  /** The event consists of instances whose series is unknown: a series of their dates. */
  orphans?: true;
  /** The sender of the mail by which a user added the event by hand; lower case. */
  taken_from?: string;
}

export const keptOf = (custom: EventContent['custom']): Required<Omit<Kept, 'orphans' | 'taken_from'>> => {
  const { ics = [], components = [], alarms = [], people = [] } = custom as Kept;
  return { ics, components, alarms, people };
};

/**
 * The VALARMs of the owner of a calendar that are no reminders: of an attendee in the placement, of an organizer, and of an invitation
 * from a file, in the event.
 * @param placed those of the placement; null and undefined: it has none of its own
 */
export const ownAlarms = (
  record: Pick<EventRecord, 'custom' | 'origin_calendar_id'>,
  calendarId: string,
  placed: Component[] | null | undefined,
): Component[] => placed ?? (calendarId === record.origin_calendar_id ? keptOf(record.custom).alarms : []);

/** Whether only instances of an event are known, not its series. */
export const isOrphaned = ({ custom }: Pick<EventContent, 'custom'>): boolean =>
  (custom as Kept).orphans === true;

/** The sender of the mail by which a user added an event by hand; null: it was not added from a mail. */
export const takenFrom = ({ custom }: Pick<EventContent, 'custom'>): string | null =>
  (custom as Kept).taken_from ?? null;

/** The event as one that a user adds by hand from a mail of this sender; null: as one that its organizer sends. */
export function asTakenFrom<Event extends Pick<EventContent, 'custom'>>(
  event: Event,
  sender: string | null,
): Event {
  if (takenFrom(event) === sender) return event;
  const { taken_from: _sender, ...custom } = event.custom;
  return { ...event, custom: sender === null ? custom : { ...custom, taken_from: sender } };
}

/** The event as one of which only the instances are known. */
export const asOrphans = <Event extends Pick<EventContent, 'custom'>>(event: Event): Event => ({
  ...event,
  custom: { ...event.custom, orphans: true },
});

/** Properties with the address of a conference: Google and Microsoft write it into properties of their own. */
export const CONFERENCE_URLS = [
  'CONFERENCE',
  'X-GOOGLE-CONFERENCE',
  'X-GOOGLE-HANGOUT',
  'X-MICROSOFT-SKYPETEAMSMEETINGURL',
  'X-MICROSOFT-ONLINEMEETINGCONFLINK',
  'X-MICROSOFT-ONLINEMEETINGEXTERNALLINK',
];

/** Properties and components without a field that repeat the value of a field. Other programs show them in place of the property of the field. */
const REPEATED: readonly { fields: readonly Field[]; names: readonly string[] }[] = [
  // With line breaks, which a title does not have, or with parameters.
  { fields: ['title'], names: ['SUMMARY'] },
  { fields: ['description'], names: ['DESCRIPTION', ...HTML_DESCRIPTIONS] },
  { fields: ['categories'], names: ['CATEGORIES'] },
  {
    fields: ['location', 'locations'],
    names: [
      'LOCATION',
      'X-APPLE-STRUCTURED-LOCATION',
      'X-MICROSOFT-LOCATIONS',
      'X-MICROSOFT-LOCATIONDISPLAYNAME',
      'X-MICROSOFT-LOCATIONSTREET',
      'X-MICROSOFT-LOCATIONCITY',
      'X-MICROSOFT-LOCATIONURL',
      'X-APPLE-TRAVEL-DURATION',
      'X-APPLE-TRAVEL-START',
      'X-APPLE-TRAVEL-ADVISORY-BEHAVIOR',
      'STRUCTURED-LOCATION',
      'VLOCATION',
      'GEO',
    ],
  },
  {
    fields: ['conference'],
    names: [...CONFERENCE_URLS, 'X-MICROSOFT-ONLINEMEETINGINFORMATION'],
  },
  {
    fields: ['show_as'],
    names: ['X-MICROSOFT-CDO-INTENDEDSTATUS', 'X-MICROSOFT-MSNCALENDAR-INTENDEDSTATUS'],
  },
  { fields: ['color'], names: ['COLOR', 'X-OUTLOOK-COLOR'] },
  { fields: ['visibility'], names: ['CLASS', 'X-CALENDARSERVER-ACCESS'] },
  { fields: ['links'], names: ['ATTACH'] },
];
/** Whether the event takes days. */
const ALL_DAY = ['X-MICROSOFT-CDO-ALLDAYEVENT', 'X-MICROSOFT-MSNCALENDAR-ALLDAYEVENT'];

/**
 * `custom` after a change: without the properties and components that repeat the old value of a changed field.
 * @param fields names of the changed fields
 */
export function customAfter(
  { custom, starts }: Pick<EventContent, 'custom' | 'starts'>,
  fields: readonly string[],
  newStart: string,
): EventContent['custom'] {
  const { ics, components } = keptOf(custom);
  const stale = new Set(
    REPEATED.flatMap((each) => (each.fields.some((field) => fields.includes(field)) ? each.names : [])),
  );
  if (isDay(starts) !== isDay(newStart)) for (const name of ALL_DAY) stale.add(name);
  // An attached file that is no link stays.
  const isStale = ({ name, value }: Property): boolean =>
    stale.has(name) && (name !== 'ATTACH' || /^https?:/i.test(value));
  const left = {
    ics: ics.filter((each) => !isStale(each)),
    components: components.filter(({ name }) => !stale.has(name)),
  };
  if (left.ics.length === ics.length && left.components.length === components.length) return custom;
  const { ics: _, components: __, ...others } = custom;
  return {
    ...others,
    ...(left.ics.length > 0 && { ics: left.ics }),
    ...(left.components.length > 0 && { components: left.components }),
  };
}
