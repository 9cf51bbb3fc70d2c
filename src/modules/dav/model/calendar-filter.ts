import {
  type Component,
  parameterOf,
  parseCalendars,
  propertiesOf,
  unescapeText,
} from '../../../lib/icalendar/index.js';
import type { XmlElement } from '../../../lib/xml/index.js';
import { DavError } from './dav-error.js';
import { assertCalendarFilter } from './filter-support.js';
import { childOf, childrenOf } from './multistatus.js';
import { matchesText } from './text-match.js';
import { caldav } from './xml-names.js';

/** Instants in seconds; null: unbounded. */
export interface TimeRange {
  from: number | null;
  to: number | null;
}

/** What a `calendar-query` asks for (RFC 4791, 9.7). */
export interface CalendarFilter {
  /** False: the query is about components that the collection does not have. */
  hasMembers: boolean;
  range: TimeRange;
  /** Filters of properties of the members, and of components inside of them. */
  rest: XmlElement | null;
}

const FORM = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

const invalid = (): DavError =>
  new DavError(400, caldav('valid-filter'), 'A time is not of the form 20260302T080000Z.');

/** @throws DavError 400 */
function instantOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const match = FORM.exec(text);
  if (!match) throw invalid();
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const time = Date.UTC(year!, month! - 1, day, hour, minute, second);
  // February 30 would be a day of March, month 13 one of the next year.
  const date = new Date(time);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) throw invalid();
  return time / 1000;
}

/** The window of a `time-range`, `expand` or `limit-recurrence-set` element. @throws DavError 400 */
export function rangeOf({ attributes }: XmlElement): TimeRange {
  const range = { from: instantOf(attributes['start']), to: instantOf(attributes['end']) };
  if (range.from !== null && range.to !== null && range.to <= range.from) throw invalid();
  return range;
}

/** The components that a collection has. */
export type MemberComponent = 'VEVENT' | 'VTODO';

/** @param filter undefined: all members @throws DavError 400; 403 for a filter that is not supported */
export function calendarFilterOf(
  filter: XmlElement | undefined,
  component: MemberComponent = 'VEVENT',
): CalendarFilter {
  if (filter) assertCalendarFilter(filter, component);
  const all = { hasMembers: true, range: { from: null, to: null }, rest: null };
  const calendar = filter && childOf(filter, caldav('comp-filter'));
  if (!calendar) return all;
  if ((calendar.attributes['name'] ?? '').toUpperCase() !== 'VCALENDAR') return { ...all, hasMembers: false };
  const components = childrenOf(calendar, caldav('comp-filter'));
  if (components.length === 0) return all;
  const member = components.find(({ attributes }) => (attributes['name'] ?? '').toUpperCase() === component);
  const hasOthers = components.some((each) => each !== member && !childOf(each, caldav('is-not-defined')));
  if (!member || hasOthers || childOf(member, caldav('is-not-defined'))) return { ...all, hasMembers: false };
  const range = childOf(member, caldav('time-range'));
  const hasRest = member.children.some(({ name }) => name === 'prop-filter' || name === 'comp-filter');
  return { hasMembers: true, range: range ? rangeOf(range) : all.range, rest: hasRest ? member : null };
}

/** Whether one of the components of a text matches. @param filter a `comp-filter` of these components */
export const matchesComponents = (filter: XmlElement, text: string, name: MemberComponent): boolean =>
  parseCalendars(text)
    .flatMap(({ components }) => components)
    .some((each) => each.name === name && matchesComponent(filter, each));

const isAll = ({ attributes }: XmlElement): boolean => attributes['test'] !== 'anyof';

function matchesComponent(filter: XmlElement, event: Component): boolean {
  const results = [
    ...childrenOf(filter, caldav('prop-filter')).map((each) => matchesProperty(each, event)),
    ...childrenOf(filter, caldav('comp-filter')).map((each) => matchesNested(each, event)),
  ];
  return isAll(filter) ? results.every(Boolean) : results.some(Boolean);
}

function matchesNested(filter: XmlElement, { components }: Component): boolean {
  const name = (filter.attributes['name'] ?? '').toUpperCase();
  const found = components.filter((each) => each.name === name);
  if (childOf(filter, caldav('is-not-defined'))) return found.length === 0;
  return found.some((each) => matchesComponent(filter, each));
}

function matchesProperty(filter: XmlElement, event: Component): boolean {
  const found = propertiesOf(event, (filter.attributes['name'] ?? '').toUpperCase());
  if (childOf(filter, caldav('is-not-defined'))) return found.length === 0;
  const text = childOf(filter, caldav('text-match'));
  const params = childrenOf(filter, caldav('param-filter'));
  return found.some(
    (property) =>
      (!text || matchesText(text, unescapeText(property.value))) &&
      params.every((each) => {
        const value = parameterOf(property, (each.attributes['name'] ?? '').toUpperCase());
        if (childOf(each, caldav('is-not-defined'))) return value === undefined;
        const match = childOf(each, caldav('text-match'));
        return value !== undefined && (!match || matchesText(match, value));
      }),
  );
}
