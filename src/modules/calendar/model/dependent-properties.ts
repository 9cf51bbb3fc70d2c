import type { Property } from '../../../lib/icalendar/index.js';
import type { EventContent } from './event-record.js';
import { isDay } from './event-times.js';

type Field = keyof EventContent;

/** Properties without a field that repeat the value of a field. Other programs show them in place of the property of the field. */
const REPEATED: readonly { fields: readonly Field[]; names: readonly string[] }[] = [
  { fields: ['description'], names: ['X-ALT-DESC', 'STYLED-DESCRIPTION'] },
  {
    fields: ['location', 'locations'],
    names: [
      'X-APPLE-STRUCTURED-LOCATION',
      'X-MICROSOFT-LOCATIONS',
      'X-APPLE-TRAVEL-DURATION',
      'X-APPLE-TRAVEL-START',
      'X-APPLE-TRAVEL-ADVISORY-BEHAVIOR',
      'STRUCTURED-LOCATION',
      'GEO',
    ],
  },
  {
    fields: ['conference'],
    names: [
      'CONFERENCE',
      'X-GOOGLE-CONFERENCE',
      'X-MICROSOFT-SKYPETEAMSMEETINGURL',
      'X-MICROSOFT-ONLINEMEETINGCONFLINK',
      'X-MICROSOFT-ONLINEMEETINGEXTERNALLINK',
      'X-MICROSOFT-ONLINEMEETINGINFORMATION',
    ],
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
 * `custom` after a change: without the properties that repeat the old value of a changed field.
 * @param fields names of the changed fields
 */
export function customAfter(
  { custom, starts }: Pick<EventContent, 'custom' | 'starts'>,
  fields: readonly string[],
  newStart: string,
): EventContent['custom'] {
  const kept = custom['ics'];
  if (!Array.isArray(kept)) return custom;
  const stale = new Set(
    REPEATED.flatMap((each) => (each.fields.some((field) => fields.includes(field)) ? each.names : [])),
  );
  if (isDay(starts) !== isDay(newStart)) for (const name of ALL_DAY) stale.add(name);
  // An attached file that is no link stays.
  const isStale = ({ name, value }: Property): boolean =>
    stale.has(name) && (name !== 'ATTACH' || /^https?:/i.test(value));
  const left = (kept as Property[]).filter((each) => !isStale(each));
  if (left.length === kept.length) return custom;
  const { ics: _, ...others } = custom;
  return left.length > 0 ? { ...others, ics: left } : others;
}
