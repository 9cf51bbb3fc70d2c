import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../context/request-context.js';
import { Db } from '../../database/db.js';
import { type Statement, workspace } from '../../database/statement.js';
import { FeedRetention } from '../feed-retention.js';
import type { FeedSource } from '../feed-source.js';
import { HeadWatch } from '../head-watch.js';
import type { SyncStateQuery, SyncStateResponse } from './sync-state.dto.js';

type Heads = Omit<SyncStateResponse, 'server_time'>;

/**
 * Maximum number of counters of objects that a waiting request follows, besides the counter of the user. A user owns at most 100
 * calendars and 100 address books; the others are shared.
 */
const MAX_FOLLOWED = 500;

/** Heads of all synchronised collections of a caller. */
@Injectable()
export class SyncState {
  private heads: Statement<Heads> | undefined;
  private readonly objects = new Map<string, string>();

  constructor(
    private readonly db: Db,
    private readonly feeds: FeedRetention,
    private readonly watch: HeadWatch,
  ) {}

  /**
   * Adds a collection with a counter for each of its objects. It is not a `FeedSource`.
   * @param heads SQL of a JSON object with the heads of the objects that a user sees, by id; $1 the workspace, $2 the user
   */
  addObjects(collection: string, heads: string): void {
    this.objects.set(collection, heads);
  }

  /**
   * One query. With `wait` the response is delayed until the caller's head differs from the one in the query.
   * @param signal fires when the client disconnects
   */
  async read(ctx: RequestContext, query: SyncStateQuery, signal: AbortSignal): Promise<SyncStateResponse> {
    const deadline = Date.now() + query.wait * 1000;
    for (;;) {
      const own = await this.current(ctx);
      const state = withObjects(own);
      const left = deadline - Date.now();
      const hasChanged = query.head === undefined || state.head !== query.head;
      if (hasChanged || left <= 0 || !(await this.change(ctx, own, left, signal)))
        return { ...state, server_time: new Date().toISOString() };
    }
  }

  /** Waits for a change of the counter of the user or of an object. @returns false without one */
  private change(
    ctx: RequestContext,
    { head, objects }: Heads,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const followed = Object.values(objects).flatMap((heads) => Object.entries(heads));
    return this.watch.wait(ctx, [[ctx.userId, head], ...followed.slice(0, MAX_FOLLOWED)], ms, signal);
  }

  /** The heads of the user's own counter and of the objects. */
  private async current({ tenantId, userId }: RequestContext): Promise<Heads> {
    this.heads ??= headsOf(this.feeds.sources, this.objects);
    const [row] = await this.db.query(this.heads, [tenantId, userId]);
    return row as Heads;
  }
}

/** The heads with the sums of the objects' heads: they grow with each change of an object. */
function withObjects({ head, collections, objects }: Heads): Heads {
  const sums = Object.entries(objects).map(
    ([name, heads]) => [name, Object.values(heads).reduce((sum, each) => sum + each, 0)] as const,
  );
  const all = sums.reduce((sum, [, each]) => sum + each, head);
  return { head: all, collections: { ...collections, ...Object.fromEntries(sums) }, objects };
}

/**
 * One snapshot: the counter of the user and, per collection, its highest feed number. The floor counts too: a head never
 * falls when old removals are deleted.
 */
function headsOf(sources: readonly FeedSource[], others: ReadonlyMap<string, string>): Statement<Heads> {
  const heads = sources.flatMap(({ collection, numbers }) => {
    if (!numbers) return [];
    const { table, owner } = numbers;
    const last = `(SELECT seq FROM ${table} WHERE tenant_id = $1 AND ${owner} = $2 ORDER BY seq DESC LIMIT 1)`;
    return `'${collection}', greatest(${last}, (counter.floors->>'${collection}')::bigint, 0)`;
  });
  const ofSources = sources.flatMap(({ collection, heads: sql }) =>
    sql ? [[collection, sql] as const] : [],
  );
  const objects = [...ofSources, ...others].map(([collection, sql]) => `'${collection}', (${sql})`);
  return workspace.statement<Heads>(
    'sync.state',
    `SELECT coalesce(counter.head, 0)::float8 AS head, json_build_object(${heads.join(', ')}) AS collections,
            json_build_object(${objects.join(', ')}) AS objects
       FROM (VALUES ($1::uuid, $2::uuid)) AS caller (tenant_id, user_id)
       LEFT JOIN sync_heads counter ON counter.tenant_id = caller.tenant_id AND counter.user_id = caller.user_id`,
    { pipelined: true },
  );
}
