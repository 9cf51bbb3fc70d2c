import type { WorkspaceClient } from '../../client.js';
import { ApiError } from '../../errors.js';
import type { BatchRequest, BatchResponse } from './batch.js';
import { ReadAhead } from './read-ahead.js';
import { received, settled } from '../rows/changes.js';
import { type CollectionName, COLLECTIONS, feedOf, partsOf, type ScopedName } from '../collections.js';
import { eachPending, eachRow } from '../rows/each-row.js';
import {
  type FeedState,
  isKnown,
  isList,
  keepsBody,
  type Page,
  pageOf,
  type PageRead,
  requestOf,
  withBody,
} from './feeds.js';
import type { Row } from '../rows/row.js';
import { readFeedState, type Rows, type RowsEdit } from '../rows/rows.js';

/** What `/sync/state` says of collections. */
export interface Heads {
  head: number;
  collections: Record<string, number>;
  objects: Record<string, Record<string, number>>;
}

/** Feeds that are read by one batch. A page of notes may have 4 MB, and the responses of a batch 16 MB. */
const FEEDS_AT_ONCE = 4;
/** Lists have no feed: names, colors and roles are read again after this time. */
const LIST_AGE_MS = 300_000;
const CONTAINED: Partial<Record<CollectionName, ScopedName>> = {
  calendars: 'events',
  addressbooks: 'contacts',
};
/** The names of objects with heads in `/sync/state`. */
const HEADS_OF: Record<ScopedName, string> = { events: 'calendars', contacts: 'contacts' };

/** What is left to read of a feed after a page. `incomplete` means that the page is requested again, because it lacks bodies. */
type Taken = 'end' | 'more' | 'incomplete';

/** Reads the feeds of the service into the store, which is the only way by which copies of the service get there. */
export class Puller {
  private readonly listed = new Map<string, { at: number; heads: string }>();

  constructor(
    private readonly client: WorkspaceClient,
    private readonly rows: Rows,
    private readonly names: ReadonlySet<CollectionName>,
  ) {}

  /**
   * Reads each feed that has changed, or that must show the result of a write, to its end.
   * @param heads read before
   * @throws ApiError, Error if there is no response; the pages before it are stored
   */
  async pull(heads: Heads, signal: AbortSignal): Promise<void> {
    const own = [...this.names].filter((name) => !COLLECTIONS[name].container);
    await this.pullAll(own, heads, signal);
    const scoped = await this.rows.read(async (tx) => {
      const feeds: string[] = [];
      for (const name of own) {
        const contained = CONTAINED[name];
        if (!contained || !this.names.has(contained)) continue;
        for await (const { id, server } of eachRow(tx, name)) if (server) feeds.push(feedOf(contained, id));
      }
      return feeds;
    });
    await this.pullAll(scoped, heads, signal);
  }

  /** Reads lists again, too. */
  refresh(): void {
    this.listed.clear();
  }

  private async pullAll(feeds: readonly string[], heads: Heads, signal: AbortSignal): Promise<void> {
    const { feeds: changed, bare } = await this.dueOf(feeds, heads);
    let due = changed;
    // Pages of a list have no common state: a list that was not read to its end is read again.
    for (const feed of due.filter(isListed)) await this.rows.receive((edit) => startWalk(edit, feed));
    const pages = new ReadAhead(this.client, signal);
    let failure: unknown;
    try {
      while (due.length > 0) {
        const now = due.slice(0, FEEDS_AT_ONCE);
        const reads = await Promise.all(
          now.map(async (feed): Promise<PageRead> => ({
            ...(await this.begin(feed)),
            isBare: bare.has(feed),
          })),
        );
        const responses = await pages.read(now.map((feed, n) => requestOf(feed, reads[n]!)));
        pages.begin(now.flatMap((feed, n) => followingOf(feed, reads[n]!, responses[n]!)));
        const ended = new Set<string>();
        for (const [n, feed] of now.entries()) {
          const { status, body } = responses[n]!;
          if (isUnreadable(status)) {
            // The other feeds are read nevertheless.
            failure ??= new ApiError(body, new Response(null, { status }));
            ended.add(feed);
            continue;
          }
          const outcome = await this.take(feed, reads[n]!, responses[n]!, heads);
          if (outcome === 'incomplete') bare.delete(feed);
          if (outcome === 'end') ended.add(feed);
        }
        due = due.filter((feed) => !ended.has(feed));
      }
    } finally {
      pages.end();
    }
    if (failure) throw failure;
  }

  /** @returns the feeds to be read, and among them those whose pages need no bodies, as far as the device knows */
  private dueOf(feeds: readonly string[], heads: Heads): Promise<{ feeds: string[]; bare: Set<string> }> {
    return this.rows.read(async (tx) => {
      const written = new Set<string>();
      const withBodies = new Set<string>();
      for await (const row of eachPending(tx)) {
        if (!row.sent?.done) continue;
        written.add(row.feed);
        if (!keepsBody(row)) withBodies.add(row.feed);
      }
      const due: string[] = [];
      for (const feed of feeds) {
        const state = await readFeedState(tx, feed);
        if (written.has(feed) || this.hasChanged(feed, state, heads)) due.push(feed);
      }
      return { feeds: due, bare: new Set([...written].filter((feed) => !withBodies.has(feed))) };
    });
  }

  private hasChanged(feed: string, state: FeedState | undefined, heads: Heads): boolean {
    if (!isListed(feed)) return state?.seen !== numberOf(feed, heads);
    const last = this.listed.get(feed);
    return !last || last.at + LIST_AGE_MS < Date.now() || last.heads !== headsOf(feed, heads);
  }

  /** A feed without a position is read from the beginning. */
  private async begin(feed: string): Promise<FeedState> {
    const state = await this.rows.read((tx) => readFeedState(tx, feed));
    const isBegun = state?.cursor !== undefined || state?.walk !== undefined;
    return state && isBegun ? state : this.rows.receive((edit) => startWalk(edit, feed));
  }

  private async take(
    feed: string,
    asked: PageRead,
    { status, body }: BatchResponse,
    heads: Heads,
  ): Promise<Taken> {
    if (status === 410) {
      await this.rows.receive((edit) => startWalk(edit, feed));
      return 'more';
    }
    if (status === 404) {
      await this.rows.receive((edit) => drop(edit, feed));
      return 'end';
    }
    // The user has no permission for the collection.
    if (status === 403) return 'end';
    const page = pageOf(feed, body);
    const taken = await this.rows.receive((edit) => store(edit, feed, asked, page, numberOf(feed, heads)));
    if (taken === 'end' && isListed(feed))
      this.listed.set(feed, { at: Date.now(), heads: headsOf(feed, heads) });
    return taken;
  }
}

/** The request that follows a page, unless the page changes how the feed is read. */
function followingOf(feed: string, asked: PageRead, { status, body }: BatchResponse): BatchRequest[] {
  if (status !== 200) return [];
  const { cursor, hasMore } = pageOf(feed, body);
  return hasMore ? [requestOf(feed, { ...asked, ...(cursor !== undefined && { cursor }) })] : [];
}

const isListed = (feed: string): boolean => isList(partsOf(feed).name);

/** 403, 404 and 410 say something of the feed; others of the moment. */
const isUnreadable = (status: number): boolean => status !== 200 && ![403, 404, 410].includes(status);

async function startWalk(edit: RowsEdit, feed: string): Promise<FeedState> {
  const walk = ((await edit.feedState(feed))?.walks ?? 0) + 1;
  const isEmpty = (await edit.tx.rows(feed, '', 1)).length === 0;
  const begun: FeedState = { walk, walks: walk, ...(isEmpty && { bodies: true }) };
  await edit.setFeedState(feed, begun);
  return begun;
}

/** Stores a page with the position after it. */
async function store(
  edit: RowsEdit,
  feed: string,
  { isBare = false, ...asked }: PageRead,
  page: Page,
  seen: number | null,
): Promise<Taken> {
  const { walk, walks } = asked;
  const areKnown = (walk !== undefined || isBare) && (await hasBodies(edit, feed, page));
  if (walk === undefined && isBare && !areKnown) return 'incomplete';
  if (walk !== undefined && !areKnown && !asked.bodies && isWalkOfIndex(feed)) {
    // The same page again, with the bodies. What has changed comes first in a walk.
    await edit.setFeedState(feed, { ...asked, bodies: true });
    return 'more';
  }
  // Objects may have changed while a walk read the pages before its last one, so the feed is read after it.
  const isEnd = !page.hasMore && (walk === undefined || !isWalkOfIndex(feed));
  for (const { id, item } of page.changes) {
    let roleBefore: unknown;
    await edit.step(feed, id, (row, rules) => {
      roleBefore = row?.server?.['role'];
      const known = received(row ?? { feed, id }, item && withBody(feed, item, row?.server), rules);
      const next = known && walk !== undefined ? { ...known, walk } : known;
      return next && isEnd ? settled(next, rules) : next;
    });
    if (item && roleBefore !== item['role']) await rereadContained(edit, feed, id);
  }
  const state: FeedState = {
    ...(page.cursor !== undefined && { cursor: page.cursor }),
    ...(walks && { walks }),
  };
  if (page.hasMore) {
    const ofWalk = walk !== undefined && { walk, ...(!areKnown && { bodies: true as const }) };
    await edit.setFeedState(feed, { ...state, ...ofWalk });
    return 'more';
  }
  // The device had no copies before its first walk.
  if (walk !== undefined && walk > 1) await sweep(edit, feed, walk);
  if (isEnd) await settle(edit, feed);
  await edit.setFeedState(feed, isEnd ? { ...state, seen } : state);
  return isEnd ? 'end' : 'more';
}

/** Whether the device has the bodies of a page that was read without them. */
async function hasBodies(edit: RowsEdit, feed: string, { changes }: Page): Promise<boolean> {
  for (const { id, item } of changes)
    if (item && !isKnown(feed, item, await edit.tx.get(feed, id))) return false;
  return true;
}

const isWalkOfIndex = (feed: string): boolean => !isListed(feed) && partsOf(feed).scope === undefined;

/** Removes what a walk has not listed. */
async function sweep(edit: RowsEdit, feed: string, walk: number): Promise<void> {
  for await (const row of eachRow(edit.tx, feed)) {
    if (!row.server || row.gone || row.walk === walk) continue;
    await edit.step(feed, row.id, (current, rules) => current && received(current, undefined, rules));
    await dropContained(edit, feed, row.id);
  }
}

/** Ends the writes that are done: the pages that were read, up to the last one, have their results. */
async function settle(edit: RowsEdit, feed: string): Promise<void> {
  const isDone = (row: Row) => row.feed === feed && row.sent?.done !== undefined;
  for await (const pending of eachPending(edit.tx))
    if (isDone(pending)) await edit.step(feed, pending.id, (row, rules) => row && settled(row, rules));
}

/** The user can no longer read the containing object. */
async function drop(edit: RowsEdit, feed: string): Promise<void> {
  for await (const { id } of eachRow(edit.tx, feed))
    await edit.step(feed, id, (row, rules) => row && received(row, undefined, rules));
  await edit.setFeedState(feed, undefined);
}

async function dropContained(edit: RowsEdit, feed: string, id: string): Promise<void> {
  const contained = CONTAINED[feed as CollectionName];
  if (contained) await drop(edit, feedOf(contained, id));
}

/** The role in a containing object decides what the user sees of its objects, also when none of them has changed. */
async function rereadContained(edit: RowsEdit, feed: string, id: string): Promise<void> {
  const contained = CONTAINED[feed as CollectionName];
  const state = contained && (await edit.feedState(feedOf(contained, id)));
  if (!state) return;
  const { seen: _, ...unread } = state;
  await edit.setFeedState(feedOf(contained, id), unread);
}

/** The number of the last change of a feed; null: it has none. Lists have no number. */
function numberOf(feed: string, { collections, objects }: Heads): number | null {
  const { name, scope } = partsOf(feed);
  if (scope === undefined) return collections[name] ?? null;
  return objects[HEADS_OF[name as ScopedName]]?.[scope] ?? null;
}

/** The heads of the objects in a list, as one text. Address books count their contacts. */
function headsOf(feed: string, { objects }: Heads): string {
  const heads = objects[HEADS_OF[CONTAINED[feed as CollectionName]!]] ?? {};
  return Object.entries(heads).sort().join();
}
