import type { RequestContext } from '../../../platform/context/request-context.js';
import type { XmlElement } from '../../../lib/xml/index.js';
import type { Properties } from './multistatus.js';
import type { Space } from './paths.js';
import type { XmlName } from './xml-names.js';

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
  version: '3.0' | '4.0';
}

export interface MemberChange {
  name: string;
  /** Null: the member is gone. */
  etag: string | null;
}

/** Decides about a write. @param etag null: no such member. @throws to stop the write */
export type EtagCheck = (etag: string | null) => void;

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
  /** @returns whether the member is new */
  put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<boolean>;
  remove(ctx: RequestContext, collection: Collection, name: string, check: EtagCheck): Promise<void>;
  create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void>;
  /** The names that `update` sets; the others are protected or unknown. */
  settable(collection: Collection, properties: PropertyChanges): Set<XmlName>;
  update(ctx: RequestContext, collection: Collection, properties: PropertyChanges): Promise<void>;
  delete(ctx: RequestContext, collection: Collection): Promise<void>;
}
