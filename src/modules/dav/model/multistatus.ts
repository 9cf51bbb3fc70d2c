import { XmlError, type XmlElement } from '../../../lib/xml/index.js';
import { DAV, DECLARATIONS, dav, element, href, nameOf, type XmlName, XML_HEAD } from './xml-names.js';

/** The content of a property as XML, a function that makes it, or the whole element. */
export type PropertyValue = string | (() => string) | { element: string };
export type Properties = ReadonlyMap<XmlName, PropertyValue>;

/** The properties that a request asks for. */
export interface Wanted {
  kind: 'prop' | 'allprop' | 'propname';
  names: readonly XmlName[];
  /** Missing properties are not listed (RFC 8144, `Prefer: return=minimal`). */
  isMinimal: boolean;
}

export const HEAD = `${XML_HEAD}<D:multistatus ${DECLARATIONS}>\n`;
export const TAIL = '</D:multistatus>\n';

const STATUS: Readonly<Record<number, string>> = {
  200: 'OK',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  424: 'Failed Dependency',
  507: 'Insufficient Storage',
};
const statusLine = (status: number): string =>
  `<D:status>HTTP/1.1 ${status} ${STATUS[status] ?? 'Error'}</D:status>`;

const propstat = (content: string, status: number): string =>
  `<D:propstat><D:prop>${content}</D:prop>${statusLine(status)}</D:propstat>`;

/** Properties whose values are large or cost a query, or that `allprop` does not return by their RFC: only for requests that name them. */
const ON_REQUEST: ReadonlySet<XmlName> = new Set([
  '{urn:ietf:params:xml:ns:caldav}calendar-data',
  '{urn:ietf:params:xml:ns:carddav}address-data',
  '{urn:ietf:params:xml:ns:caldav}calendar-timezone',
  '{urn:ietf:params:xml:ns:caldav}schedule-tag',
  '{urn:ietf:params:xml:ns:caldav}timezone-service-set',
]);

/** The response of one resource. */
export function responseOf(path: string, properties: Properties, wanted: Wanted): string {
  if (wanted.kind === 'propname') {
    const names = [...properties.keys()].map((name) => element(name)).join('');
    return `<D:response>${href(path)}${propstat(names, 200)}</D:response>\n`;
  }
  const names = wanted.kind === 'allprop' ? allNames(properties, wanted) : wanted.names;
  let found = '';
  let missing = '';
  for (const name of names) {
    const value = properties.get(name);
    if (value === undefined) missing += element(name);
    else if (typeof value === 'object') found += value.element;
    else found += element(name, typeof value === 'string' ? value : value());
  }
  const isEmpty = found === '' && (missing === '' || wanted.isMinimal);
  const present = found !== '' || isEmpty ? propstat(found, 200) : '';
  const absent = missing !== '' && !wanted.isMinimal ? propstat(missing, 404) : '';
  return `<D:response>${href(path)}${present}${absent}</D:response>\n`;
}

/** The names of `allprop` and `include` (RFC 4918, 9.1). */
const allNames = (properties: Properties, { names }: Wanted): Set<XmlName> =>
  new Set([...[...properties.keys()].filter((name) => !ON_REQUEST.has(name)), ...names]);

/** The response of a resource that has no properties to show. @param condition XML of an error */
export const statusResponse = (path: string, status: number, condition = ''): string =>
  `<D:response>${href(path)}${statusLine(status)}${condition ? `<D:error>${condition}</D:error>` : ''}</D:response>\n`;

/** The response to PROPPATCH and MKCOL: one status for each property. */
export function propertyResults(path: string | null, results: ReadonlyMap<XmlName, number>): string {
  const byStatus = Map.groupBy(results, ([, status]) => status);
  const parts = [...byStatus].map(([status, entries]) =>
    propstat(entries.map(([name]) => element(name)).join(''), status),
  );
  return path === null ? parts.join('') : `<D:response>${href(path)}${parts.join('')}</D:response>\n`;
}

/** Children with a name of DAV: or of another namespace. */
export const childrenOf = (parent: XmlElement, name: XmlName): XmlElement[] =>
  parent.children.filter((child) => nameOf(child.space, child.name) === name);
export const childOf = (parent: XmlElement, name: XmlName): XmlElement | undefined =>
  childrenOf(parent, name)[0];

/** The names in the `DAV:prop` of a request. */
export function wantedOf(root: XmlElement, isMinimal: boolean): Wanted {
  const prop = childOf(root, dav('prop'));
  if (prop) return { kind: 'prop', names: namesIn(prop), isMinimal };
  if (childOf(root, dav('propname'))) return { kind: 'propname', names: [], isMinimal };
  const include = childOf(root, dav('include'));
  return { kind: 'allprop', names: include ? namesIn(include) : [], isMinimal };
}

const namesIn = ({ children }: XmlElement): XmlName[] => [
  ...new Set(children.map(({ space, name }) => nameOf(space, name))),
];

/** @throws XmlError for another element */
export function assertRoot(root: XmlElement, ...names: readonly string[]): void {
  if (root.space !== DAV || !names.includes(root.name))
    throw new XmlError('malformed', `The body must be ${names.map((name) => `DAV:${name}`).join(' or ')}.`);
}
