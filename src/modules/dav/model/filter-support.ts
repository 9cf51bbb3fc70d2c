import { xmlText, type XmlElement } from '../../../lib/xml/index.js';
import { DavError } from './dav-error.js';
import { childrenOf } from './multistatus.js';
import { CALDAV, caldav, CARDDAV, carddav } from './xml-names.js';

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
