import { xmlText } from '../../../lib/xml/index.js';

/** Namespaces of properties. */
export const DAV = 'DAV:';
export const CALDAV = 'urn:ietf:params:xml:ns:caldav';
export const CARDDAV = 'urn:ietf:params:xml:ns:carddav';
const CALENDAR_SERVER = 'http://calendarserver.org/ns/';
const APPLE = 'http://apple.com/ns/ical/';
const INF_IT = 'http://inf-it.com/ns/ab/';

/** A name with its namespace: `{DAV:}displayname`. */
export type XmlName = string;

export const nameOf = (space: string, name: string): XmlName => `{${space}}${name}`;
export const dav = (name: string): XmlName => nameOf(DAV, name);
export const caldav = (name: string): XmlName => nameOf(CALDAV, name);
export const carddav = (name: string): XmlName => nameOf(CARDDAV, name);
export const calendarServer = (name: string): XmlName => nameOf(CALENDAR_SERVER, name);
export const apple = (name: string): XmlName => nameOf(APPLE, name);
export const infIt = (name: string): XmlName => nameOf(INF_IT, name);

/** Prefixes of the namespaces that every response declares. */
const PREFIXES: Readonly<Record<string, string>> = {
  [DAV]: 'D',
  [CALDAV]: 'C',
  [CARDDAV]: 'A',
  [CALENDAR_SERVER]: 'S',
  [APPLE]: 'I',
  [INF_IT]: 'B',
};

export const DECLARATIONS = Object.entries(PREFIXES)
  .map(([space, prefix]) => `xmlns:${prefix}="${space}"`)
  .join(' ');

export const XML_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n';

/** The element of a name. @param content XML; empty: an empty element */
export function element(name: XmlName, content = ''): string {
  const end = name.indexOf('}');
  const [space, local] = [name.slice(1, end), name.slice(end + 1)];
  const prefix = PREFIXES[space];
  if (prefix !== undefined)
    return content === '' ? `<${prefix}:${local}/>` : `<${prefix}:${local}>${content}</${prefix}:${local}>`;
  const declared = `${local} xmlns="${xmlText(space)}"`;
  return content === '' ? `<${declared}/>` : `<${declared}>${content}</${local}>`;
}

export const href = (path: string): string => `<D:href>${xmlText(path)}</D:href>`;
