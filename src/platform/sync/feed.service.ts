import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import { Db } from '../database/db.js';
import type { ApiError } from '../http/errors.js';
import { JsonReply, type JsonText } from '../http/json-reply.js';
import {
  type ChangesQuery,
  CURSOR_EXPIRED,
  type FeedMeta,
  type IndexMeta,
  type IndexQuery,
} from './feed.dto.js';
import type { FeedRead, FeedSource } from './feed-source.js';
import { HeadWatch } from './head-watch.js';
import { headOf } from './sync-heads.js';
import { type ChangesPosition, type IndexPosition, SyncCursors } from './sync-cursors.js';

/** Where the changes of a request start. */
interface StartPosition extends ChangesPosition {
  /** The cursor with this position; missing without one, and for a cursor of an index walk. */
  cursor?: string;
}

/**
 * Change feeds and index walks over any `FeedSource`. No change is lost: the numbers of one user are allocated under the
 * lock of their counter, which is held until the commit. So a snapshot with the counter at k has every number up to k. An item has
 * one row whose number only grows, so it is in this page or in a later one. Removals are rows too; their deletion raises the
 * floor.
 */
@Injectable()
export class FeedService {
  constructor(
    private readonly cursors: SyncCursors,
    private readonly heads: HeadWatch,
    private readonly db: Db,
  ) {}

  /**
   * Changes since the cursor; without a cursor, all items. With `wait` an empty response is delayed until a change.
   * @throws ApiError 410 `cursor_expired`
   */
  async changes<T extends FeedMeta>(
    ctx: RequestContext,
    source: FeedSource,
    query: ChangesQuery,
    signal: AbortSignal,
  ): Promise<JsonReply<T>> {
    const { limit, include, cursor } = query;
    const start = this.changesPosition(ctx, source, cursor);
    const deadline = Date.now() + query.wait * 1000;
    let { seq, since } = start;
    for (;;) {
      // A client that starts without items needs no removals up to `since`, neither on its first page nor on later ones.
      const liveOnly = cursor === undefined || seq < since;
      const all =
        (await this.unchanged(ctx, source, seq)) ??
        (await source.changes(ctx, { after: seq, limit, liveOnly, include }));
      if (cursor === undefined) since = Math.max(since, all.head);
      if (seq > all.head || Math.max(seq, since) < all.floor) throw expired(source);
      const read = liveOnly ? upTo(all, since) : all;
      const isPart = read.head < all.head;
      const isEmpty = read.rows.length === 0;
      const left = deadline - Date.now();
      const isDone = !isEmpty || (!isPart && (left <= 0 || signal.aborted));
      if (isDone || (!isPart && !(await this.heads.wait(ctx, [[ctx.userId, all.head]], left, signal))))
        return this.changesReply(ctx, source, since, read, isPart, start);
      seq = read.head;
    }
  }

  /**
   * Checks the counter of the user first, because most polls are empty and reading a page costs a multiple.
   * @returns undefined if the source may have changes after `seq`, or if its counters are not those of users
   */
  private async unchanged(
    ctx: RequestContext,
    source: FeedSource,
    seq: number,
  ): Promise<FeedRead | undefined> {
    if (seq === 0 || source.numbers === null) return undefined;
    const counter = await headOf(this.db, ctx, source.collection);
    return counter?.head === seq ? { ...counter, rows: [] } : undefined;
  }

  /** All items that the caller can see, newest change first, in pages. @throws ApiError 410 `cursor_expired` */
  async index<T extends IndexMeta>(
    ctx: RequestContext,
    source: FeedSource,
    query: IndexQuery,
  ): Promise<JsonReply<T>> {
    const position = query.cursor === undefined ? null : this.indexPosition(ctx, source, query.cursor);
    const { limit, include } = query;
    const read = await source.index(ctx, { upTo: position?.seq ?? null, limit, include });
    const since = position?.since ?? read.head;
    if (since > read.head || since < read.floor) throw expired(source);
    const { items, last, more } = page(read);
    const checkpoint = this.cursors.write(ctx, source.collection, { mode: 'changes', seq: since, since });
    const next = more
      ? this.cursors.write(ctx, source.collection, { mode: 'index', since, seq: last - 1 })
      : null;
    return reply(source, items, next ?? checkpoint, next, { head: since, changes_cursor: checkpoint });
  }

  /**
   * @param isPart the rows end before the head of the feed
   * @param start the position of the request; an empty page returns its cursor instead of signing an equal one
   */
  private changesReply<T extends FeedMeta>(
    ctx: RequestContext,
    source: FeedSource,
    since: number,
    read: FeedRead,
    isPart: boolean,
    start: StartPosition,
  ): JsonReply<T> {
    const { items, last, more } = page(read);
    const seq = more ? last : read.head;
    const same = start.seq === seq && start.since === since ? start.cursor : undefined;
    const cursor = same ?? this.cursors.write(ctx, source.collection, { mode: 'changes', seq, since });
    return reply(source, items, cursor, more || isPart ? cursor : null, { head: seq });
  }

  private changesPosition(
    ctx: RequestContext,
    source: FeedSource,
    cursor: string | undefined,
  ): StartPosition {
    if (cursor === undefined) return { mode: 'changes', seq: 0, since: 0 };
    const position = this.cursors.read(ctx, source.collection, cursor);
    if (!position) throw expired(source);
    // A cursor of an index walk is valid too: the changes start at the head of that walk.
    return position.mode === 'changes'
      ? { ...position, cursor }
      : { mode: 'changes', seq: position.since, since: position.since };
  }

  private indexPosition(ctx: RequestContext, source: FeedSource, cursor: string): IndexPosition {
    const position = this.cursors.read(ctx, source.collection, cursor);
    if (position?.mode !== 'index') throw expired(source);
    return position;
  }
}

/** The part of a read up to this number. */
function upTo({ head, floor, rows }: FeedRead, seq: number): FeedRead {
  return { head: Math.min(head, seq), floor, rows: rows.filter((row) => row.seq <= seq) };
}

function page({ rows }: FeedRead): { items: JsonText[]; last: number; more: boolean } {
  const fitting = rows.filter((row) => row.json !== null);
  return {
    items: fitting.map((row) => row.json as JsonText),
    last: fitting.at(-1)?.seq ?? 0,
    more: fitting.length < rows.length,
  };
}

function reply<T extends FeedMeta>(
  source: FeedSource,
  items: JsonText[],
  cursor: string,
  next: string | null,
  extra: { head: number; changes_cursor?: string },
): JsonReply<T> {
  const meta = { cursor, next, has_more: next !== null, ...extra, server_time: new Date().toISOString() };
  return JsonReply.namedList(source.plural, items, meta);
}

function expired(source: FeedSource): ApiError {
  return CURSOR_EXPIRED.with({ body: { reset_required: true, hint: `GET ${source.indexPath}` } });
}
