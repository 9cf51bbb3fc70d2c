import {
  type Component,
  parameterOf,
  parseCalendars,
  propertiesOf,
  unescapeText,
} from '../../../lib/icalendar/index.js';
import { type XmlElement, xmlText } from '../../../lib/xml/index.js';
import { DavError } from './body.js';
import { childOf, childrenOf } from './multistatus.js';
import { CALDAV, caldav, CARDDAV, carddav } from './xml-names.js';

/** The comparison of a `text-match` element (RFC 4791, 9.7.5; RFC 6352, 10.5.4). */
export function matchesText({ attributes, text }: XmlElement, value: string): boolean {
  const isExact = attributes['collation'] === 'i;octet';
  const [wanted, given] = isExact ? [text, value] : [text.toLowerCase(), value.toLowerCase()];
  const isMatch = compare(attributes['match-type'] ?? 'contains', wanted, given);
  return attributes['negate-condition'] === 'yes' ? !isMatch : isMatch;
}

function compare(type: string, wanted: string, given: string): boolean {
  switch (type) {
    case 'equals':
      return given === wanted;
    case 'starts-with':
      return given.startsWith(wanted);
    case 'ends-with':
      return given.endsWith(wanted);
    default:
      return given.includes(wanted);
  }
}

/** Identifiers of collations that queries evaluate; `default` means one of them (RFC 4791, 7.5.1). */
export const COLLATIONS = ['i;ascii-casemap', 'i;octet', 'i;unicode-casemap'] as const;
const KNOWN_COLLATIONS: ReadonlySet<string> = new Set([...COLLATIONS, 'default']);
const MATCH_TYPES: ReadonlySet<string> = new Set(['contains', 'equals', 'starts-with', 'ends-with']);

type Kind = 'filter' | 'calendar' | 'member' | 'nested' | 'prop-filter' | 'param-filter';

/** The elements that queries evaluate inside of each kind of filter. A `time-range` is evaluated for events and tasks only. */
const EVALUATED: Readonly<Record<Kind, ReadonlySet<string>>> = {
  filter: new Set(['comp-filter', 'prop-filter']),
  calendar: new Set(['comp-filter', 'is-not-defined']),
  member: new Set(['comp-filter', 'prop-filter', 'time-range', 'is-not-defined']),
  nested: new Set(['comp-filter', 'prop-filter', 'is-not-defined']),
  'prop-filter': new Set(['text-match', 'param-filter', 'is-not-defined']),
  'param-filter': new Set(['text-match', 'is-not-defined']),
};

const upper = ({ attributes }: XmlElement): string => (attributes['name'] ?? '').toUpperCase();

/**
 * Rejects a filter of a `calendar-query` with parts that would not be evaluated (RFC 4791, 7.8).
 * @param component of the members of the collection
 * @throws DavError 403 `supported-filter`, `supported-collation`
 */
export function assertCalendarFilter(filter: XmlElement, component: 'VEVENT' | 'VTODO'): void {
  assertEvaluated(filter, 'filter', CALDAV);
  for (const calendar of childrenOf(filter, caldav('comp-filter'))) {
    assertEvaluated(calendar, 'calendar', CALDAV);
    const components = childrenOf(calendar, caldav('comp-filter'));
    const members = components.filter((each) => upper(each) === component);
    if (members.length > 1) throw unsupported(members[1] as XmlElement);
    for (const member of members) assertComponent(member, 'member');
  }
}

/**
 * Rejects a filter of an `addressbook-query` with parts that would not be evaluated (RFC 6352, 8.6).
 * @throws DavError 403 `supported-filter`, `supported-collation`
 */
export function assertCardFilter(filter: XmlElement): void {
  assertEvaluated(filter, 'filter', CARDDAV);
  for (const each of childrenOf(filter, carddav('prop-filter'))) assertProperty(each, CARDDAV);
}

function assertComponent(filter: XmlElement, kind: Kind): void {
  assertEvaluated(filter, kind, CALDAV);
  for (const each of childrenOf(filter, caldav('comp-filter'))) assertComponent(each, 'nested');
  for (const each of childrenOf(filter, caldav('prop-filter'))) assertProperty(each, CALDAV);
}

function assertProperty(filter: XmlElement, space: string): void {
  assertEvaluated(filter, 'prop-filter', space);
  for (const each of filter.children)
    if (each.space === space && each.name === 'param-filter') assertEvaluated(each, 'param-filter', space);
}

/** Elements of other namespaces are extensions, which are ignored (RFC 4918, 17). */
function assertEvaluated(filter: XmlElement, kind: Kind, space: string): void {
  for (const each of filter.children) {
    if (each.space !== space) continue;
    if (!EVALUATED[kind].has(each.name)) throw unsupported(each.name.endsWith('-filter') ? each : filter);
    if (each.name !== 'text-match') continue;
    const { collation = 'default', 'match-type': type = 'contains' } = each.attributes;
    if (!KNOWN_COLLATIONS.has(collation))
      throw new DavError(403, `{${space}}supported-collation`, 'The collation is not supported.');
    if (!MATCH_TYPES.has(type)) throw unsupported(filter);
  }
}

/** The error with the filter, as the RFCs ask for. */
function unsupported(filter: XmlElement): DavError {
  const { space, name } = filter;
  const prefix = space === CALDAV ? 'C' : 'A';
  const detail = `<${prefix}:${name} name="${xmlText(filter.attributes['name'] ?? '')}"/>`;
  return new DavError(403, `{${space}}supported-filter`, 'A part of the filter is not supported.', detail);
}

interface Line {
  name: string;
  params: string;
  value: string;
}

const LINE = /^(?:[\w-]+\.)?([\w-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/s;

function linesOf(text: string): Line[] {
  return text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, params = '', value = ''] = LINE.exec(line) ?? [];
      return name === undefined
        ? []
        : [{ name: name.toUpperCase(), params, value: value.replaceAll(/\\([,;\\])/g, '$1') }];
    });
}

const isAllOf = ({ attributes }: XmlElement): boolean => attributes['test'] === 'allof';
const combine = (all: boolean, results: readonly boolean[]): boolean =>
  all ? results.every(Boolean) : results.some(Boolean);

/** Whether a vCard matches an `addressbook-query` filter (RFC 6352, 10.5). @param filter undefined or empty: all cards */
export function matchesCard(filter: XmlElement | undefined, text: string): boolean {
  const filters = filter ? childrenOf(filter, carddav('prop-filter')) : [];
  if (!filter || filters.length === 0) return true;
  const lines = linesOf(text);
  return combine(
    isAllOf(filter),
    filters.map((each) => matchesCardProperty(each, lines)),
  );
}

function matchesCardProperty(filter: XmlElement, lines: readonly Line[]): boolean {
  const name = (filter.attributes['name'] ?? '').toUpperCase();
  const found = lines.filter((line) => line.name === name);
  if (childOf(filter, carddav('is-not-defined'))) return found.length === 0;
  const texts = childrenOf(filter, carddav('text-match'));
  const params = childrenOf(filter, carddav('param-filter'));
  if (texts.length + params.length === 0) return found.length > 0;
  return found.some((line) =>
    combine(isAllOf(filter), [
      ...texts.map((each) => matchesText(each, line.value)),
      ...params.map((each) => matchesParameter(each, line)),
    ]),
  );
}

function matchesParameter(filter: XmlElement, { params }: Line): boolean {
  const name = (filter.attributes['name'] ?? '').toUpperCase();
  const values = params
    .split(';')
    .flatMap((part) => (part.toUpperCase().startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []));
  if (childOf(filter, carddav('is-not-defined'))) return values.length === 0;
  const text = childOf(filter, carddav('text-match'));
  return values.some((value) => !text || matchesText(text, value.replaceAll('"', '')));
}

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
  if (hasOthers || (member && childOf(member, caldav('is-not-defined'))))
    return { ...all, hasMembers: false };
  // All other components of the filter are those that the collection does not have.
  if (!member) return all;
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
    ...childrenOf(filter, caldav('prop-filter')).map((each) => matchesCalendarProperty(each, event)),
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

function matchesCalendarProperty(filter: XmlElement, event: Component): boolean {
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
