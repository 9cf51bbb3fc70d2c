import type { BatchRequest } from './batch.js';
import { partsOf, type CollectionName } from '../collections.js';
import type { Item, Row } from '../rows/row.js';

/** Where a device is in a feed. */
export interface FeedState {
  /** Continues the feed, or the walk while there is one. */
  cursor?: string;
  /** Number of the walk through all objects that is under way. Objects that it has not listed at its end are removed. */
  walk?: number;
  /** The next page of the walk is read with bodies: the device does not have them, or not those of the last page. */
  bodies?: true;
  /** Number of the last walk. */
  walks?: number;
  /** The number of `/sync/state` before the last complete read; null: it had none. */
  seen?: number | null;
}

/** How the next page of a feed is read. */
export interface PageRead extends FeedState {
  /** The next changes are read without bodies: most are writes of the device that keep them. Never stored. */
  isBare?: boolean;
}

/** A page of a feed. */
export interface Page {
  /** `item` is undefined for a removal. */
  changes: { id: string; item?: Item }[];
  cursor: string | undefined;
  hasMore: boolean;
}

/** How a collection is read. */
interface Feed {
  request(scope: string, read: PageRead): BatchRequest;
  page(body: Record<string, unknown>): Page;
  /** All objects are read each time: there are no changes. */
  isList?: true;
}

/** The maximum of the service; a page ends earlier at 4 MB. */
const LIMIT = 500;
/** The maximum of lists. */
const LIST_LIMIT = 200;

/** A path with its query; undefined values are left out. */
function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return `${path}?${new URLSearchParams(entries as [string, string][]).toString()}`;
}

const get = (path: string, query: Record<string, string | number | undefined>): BatchRequest => ({
  method: 'GET',
  path: withQuery(path, query),
});

type Removable = Item & { id: string; removed?: true };

/** A feed of the user, with an index for walks. */
const ownFeed = (name: CollectionName): Feed => ({
  request: (_scope, { cursor, walk, bodies, isBare }) =>
    walk === undefined
      ? get(`/${name}/changes`, { cursor, limit: LIMIT, include: isBare ? 'summary' : 'content' })
      : get(`/${name}/index`, {
          cursor,
          limit: LIMIT,
          include: bodies || !(name in BODIES) ? 'content' : 'summary',
        }),
  page: (body) => ({
    changes: (body[name] as Removable[]).map((item) =>
      item.removed ? { id: item.id } : { id: item.id, item },
    ),
    cursor: body['cursor'] as string,
    hasMore: body['has_more'] as boolean,
  }),
});

/** A list of containing objects. */
const list = (path: string, key: string, query: Record<string, string | number> = {}): Feed => ({
  isList: true,
  request: (_scope, { cursor }) => get(path, { ...query, cursor }),
  page: (body) => ({
    changes: (body[key] as Removable[]).map((item) => ({ id: item.id, item })),
    cursor: (body['next'] as string | null) ?? undefined,
    hasMore: body['next'] !== null,
  }),
});

type ContactChange = { op: 'upsert'; contact: Item } | { op: 'delete'; external_id: string };

const contacts: Feed = {
  request: (bookId, { cursor }) =>
    get(`/contact/addressbooks/${bookId}/contacts/sync`, { cursor, limit: LIMIT }),
  page: (body) => ({
    changes: (body['changes'] as ContactChange[]).map((change) =>
      change.op === 'delete'
        ? { id: change.external_id }
        : { id: change.contact['external_id'] as string, item: change.contact },
    ),
    cursor: body['cursor'] as string,
    hasMore: body['has_more'] as boolean,
  }),
};

type EventChange = { op: 'upsert'; event: Item; overrides?: Item[] } | { op: 'delete'; event_id: string };

const events: Feed = {
  request: (calendarId, { cursor }) => ({
    method: 'POST',
    path: `/calendar/${calendarId}/sync`,
    body: { sync_token: cursor ?? null, limit: LIMIT },
  }),
  page: (body) => ({
    changes: (body['changes'] as EventChange[]).map((change) =>
      change.op === 'delete'
        ? { id: change.event_id }
        : { id: change.event['id'] as string, item: { ...change.event, overrides: change.overrides ?? [] } },
    ),
    cursor: body['sync_token'] as string,
    hasMore: body['more'] as boolean,
  }),
};

const FEEDS: Readonly<Record<CollectionName, Feed>> = {
  notes: ownFeed('notes'),
  note_folders: ownFeed('note_folders'),
  tasks: ownFeed('tasks'),
  task_folders: ownFeed('task_folders'),
  calendars: list('/calendar', 'calendars', { include: 'hidden', limit: LIST_LIMIT }),
  addressbooks: list('/contact/useraddressbooks', 'addressbooks'),
  events,
  contacts,
};

export const isList = (name: CollectionName): boolean => FEEDS[name].isList === true;

/** The request of the next page. */
export function requestOf(feed: string, read: PageRead): BatchRequest {
  const { name, scope = '' } = partsOf(feed);
  return FEEDS[name].request(scope, read);
}

export const pageOf = (feed: string, body: Record<string, unknown>): Page =>
  FEEDS[partsOf(feed).name].page(body);

/**
 * The parts that the device does not read again where it has them. Descriptions of tasks come with comments, whose changes need not advance the
 * revision of the task.
 */
const BODIES: Partial<Record<string, string>> = { notes: 'content' };

/**
 * Whether a page without bodies is enough for the result of a request: it has not written the body, and named the revision that it changed.
 * A restoration names none. The service returns the current revision, also if others have restored and written the object.
 */
export function keepsBody({ feed, sent }: Row): boolean {
  const body = BODIES[feed];
  if (body === undefined || sent?.done?.revision === undefined) return false;
  const { create, restore, fields } = sent.change;
  return !create && !restore && !(body in (fields ?? {}));
}

/** Whether the device has the part of an item that a page without bodies omits. */
export function isKnown(feed: string, item: Item, row: Row | undefined): boolean {
  const body = BODIES[feed];
  if (body === undefined) return true;
  const copy = row?.server;
  // A purged object may be created again with its id.
  if (!row || !copy || !(body in copy) || copy['created_at'] !== item['created_at']) return false;
  const { revision } = copy;
  // The service has executed the request on this very copy.
  const isOwnWrite = row.sent?.done?.revision === item['revision'] && row.sent?.revision === revision;
  return revision === item['revision'] || (isOwnWrite && keepsBody(row));
}

/** @returns the item with its body */
export function withBody(feed: string, item: Item, copy: Item | undefined): Item {
  const body = BODIES[feed];
  return body === undefined || body in item || !copy ? item : { ...item, [body]: copy[body] };
}
