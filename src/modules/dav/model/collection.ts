import { formatXml, type XmlElement, xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { isMissing } from './body.js';
import { childrenOf, type Properties, type PropertyValue } from './multistatus.js';
import { paths, type Space } from './paths.js';
import {
  apple,
  CALDAV,
  caldav,
  calendarServer,
  CARDDAV,
  DAV,
  dav,
  element,
  href,
  infIt,
  type XmlName,
} from './xml-names.js';

/** A calendar, a list of tasks or an address book of the caller. */
export interface Collection {
  id: string;
  kind: 'events' | 'tasks' | 'contacts';
  /** Of its members. */
  contentType: string;
  /** Its segment in the path of this request. */
  segment: string;
  path: string;
  properties: Properties;
  /** The number of its last change, where known: a synchronisation from this number finds none. */
  head?: number;
  /** Whether the caller changes its members. */
  isWritable: boolean;
  /** New members that other users send, such as invitations, go there. */
  isDefault: boolean;
}

/** An event, a task or a contact. */
export interface Member {
  name: string;
  /** With its quotes. */
  etag: string;
  /** As the ETag, without the responses of others (RFC 6638, 3.2.10); missing: the member has no attendees. */
  scheduleTag?: string | undefined;
  /** Only where the content was asked for. */
  text?: string;
}

/** How the content of members is written. */
export interface ContentOptions {
  /** False: only names and tags. */
  isWanted: boolean;
  /** False: no VTIMEZONE. */
  zones: boolean;
  expand?: { from: number; to: number } | undefined;
  /** Only instances of their own that concern this window (RFC 4791, 9.6.6); tasks have all of theirs. */
  limit?: { from: number; to: number } | undefined;
  /** The zone in which a query reads days and times without a zone; missing: that of the calendar or the task. */
  readerZone?: string | undefined;
  version: '3.0' | '4.0';
}

export interface MemberChange {
  name: string;
  /** Null: the member is gone. */
  etag: string | null;
  scheduleTag?: string | undefined;
}

/** What a PUT has stored. */
export interface Stored extends Pick<Member, 'scheduleTag'> {
  isNew: boolean;
}

/** Decides about a write. @param etag null: no such member. @param scheduleTag null: it has none @throws to stop the write */
export type EtagCheck = (etag: string | null, scheduleTag?: string | null) => void;

/** The values of properties that PROPPATCH, MKCOL or MKCALENDAR sets; null: removed. */
export type PropertyChanges = ReadonlyMap<XmlName, XmlElement | null>;

/** Calendars, task folders or address books as collections. All methods throw errors of the API: 404 for an unknown collection. */
export interface Collections {
  readonly space: Space;
  /** The property with the content of a member. */
  readonly contentProperty: XmlName;

  list(ctx: RequestContext): Promise<Collection[]>;
  find(ctx: RequestContext, segment: string): Promise<Collection>;
  /** As `find`, for methods that need no properties; an unknown collection may be reported by the next method only. */
  open(ctx: RequestContext, segment: string): Promise<Collection>;
  /** All members without content, in pages. */
  members(ctx: RequestContext, collection: Collection): AsyncIterable<Member[]>;
  /** The members with these names, in pages. */
  read(
    ctx: RequestContext,
    collection: Collection,
    names: readonly string[],
    options: ContentOptions,
  ): AsyncIterable<Member[]>;
  /** The members that match the `filter` of a query, in pages. */
  query(
    ctx: RequestContext,
    collection: Collection,
    report: XmlElement,
    options: ContentOptions,
  ): AsyncIterable<Member[]>;
  /** Changes since a token; null: all members. */
  changes(
    ctx: RequestContext,
    collection: Collection,
    token: string | null,
    limit: number,
  ): Promise<{ changes: MemberChange[]; token: string; hasMore: boolean }>;
  put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<Stored>;
  /** @param isSilent the caller does not respond to an invitation */
  remove(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    check: EtagCheck,
    isSilent: boolean,
  ): Promise<void>;
  create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void>;
  /** The names that `update` sets; the others are protected or unknown. */
  settable(collection: Collection, properties: PropertyChanges): Set<XmlName>;
  update(ctx: RequestContext, collection: Collection, properties: PropertyChanges): Promise<void>;
  delete(ctx: RequestContext, collection: Collection): Promise<void>;
}

/** Whether the caller sees a collection at this segment. */
export async function hasCollection(
  ctx: RequestContext,
  collections: Collections,
  segment: string,
): Promise<boolean> {
  try {
    await collections.find(ctx, segment);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The components of `supported-calendar-component-set` (RFC 4791, 5.2.3), in upper case; null without the property. */
export function componentsIn(properties: PropertyChanges): string[] | null {
  const set = properties.get(caldav('supported-calendar-component-set'));
  if (!set) return null;
  return childrenOf(set, caldav('comp')).map(({ attributes }) => (attributes['name'] ?? '').toUpperCase());
}

/** XML by name. */
export type DeadProperties = Readonly<Record<XmlName, string>>;

/** Properties of one collection and user, and bytes of all of them. */
const MAX_COUNT = 100;
const MAX_BYTES = 32 * 1024;

const LIVE_SPACES: ReadonlySet<string> = new Set([DAV, CALDAV, CARDDAV]);
const LIVE: ReadonlySet<XmlName> = new Set([
  apple('calendar-color'),
  apple('calendar-order'),
  infIt('addressbook-color'),
  calendarServer('getctag'),
]);

/** Whether only the server gives a meaning to the property; the others are kept as they are (RFC 4918, 4.1). */
export const isLive = (name: XmlName): boolean =>
  LIVE.has(name) || LIVE_SPACES.has(name.slice(1, name.indexOf('}')));

/**
 * Characters of the markup of an element, at least. A child in another namespace repeats its name, so that the markup of a body within
 * its limit may be larger than any text.
 */
function lengthOf({ space, name, attributes, qualified, content }: XmlElement, scope = ''): number {
  let length = name.length + (space === scope ? 0 : space.length);
  for (const value of Object.values(attributes)) length += value.length;
  for (const each of qualified) length += each.space.length + each.value.length;
  for (const part of content) length += typeof part === 'string' ? part.length : lengthOf(part, space);
  return length;
}

/** The properties after changes; null: more than a collection can have. */
export function changedProperties(stored: DeadProperties, changes: PropertyChanges): DeadProperties | null {
  const result = new Map(Object.entries(stored));
  for (const [name, value] of changes)
    if (value === null) result.delete(name);
    else if (lengthOf(value) > MAX_BYTES) return null;
    else result.set(name, formatXml(value));
  const bytes = [...result].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return result.size > MAX_COUNT || bytes > MAX_BYTES ? null : Object.fromEntries(result);
}

/** Tokens are URIs (RFC 6578, 6.1). */
const TOKEN_SCHEME = 'data:,';
export const tokenUri = (token: string): string => TOKEN_SCHEME + token;

/** The token of a URI; null for a URI that is no token. */
export const tokenOf = (uri: string): string | null =>
  uri.startsWith(TOKEN_SCHEME) ? uri.slice(TOKEN_SCHEME.length) : null;

/** Privileges of RFC 3744 that clients look for. */
export function privileges(isWritable: boolean, more: readonly XmlName[] = []): string {
  const names = [
    dav('read'),
    dav('read-current-user-privilege-set'),
    ...(isWritable
      ? ['write', 'write-content', 'write-properties', 'bind', 'unbind'].map((name) => dav(name))
      : []),
    ...more,
  ];
  return names.map((name) => element(dav('privilege'), element(name))).join('');
}

export const reports = (names: readonly XmlName[]): string =>
  names.map((name) => element(dav('supported-report'), element(dav('report'), element(name)))).join('');

/** The properties that all resources have. */
export const callerProperties = (userId: string): [XmlName, PropertyValue][] => [
  [dav('current-user-principal'), href(paths.principal(userId))],
  [dav('principal-collection-set'), href(paths.principals)],
];

/** The properties that all collections of members have. @param token of the present state */
export const collectionProperties = (
  { name, ownerId, userId }: { name: string; ownerId: string | null; userId: string },
  token: () => string,
): [XmlName, PropertyValue][] => {
  let known: string | undefined;
  const tokenOnce = (): string => (known ??= token());
  return [
    [dav('displayname'), xmlText(name)],
    ...(ownerId === null ? [] : ([[dav('owner'), href(paths.principal(ownerId))]] as [XmlName, string][])),
    ...callerProperties(userId),
    [dav('sync-token'), () => xmlText(tokenUri(tokenOnce()))],
    [calendarServer('getctag'), () => xmlText(tokenOnce())],
  ];
};
