import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../context/request-context.js';
import { Db } from '../../database/db.js';
import { type Statement, workspace } from '../../database/statement.js';
import { FeedRetention } from '../feed-retention.js';
import type { FeedSource } from '../feed-source.js';
import { HeadWatch } from '../head-watch.js';
import type { SyncStateQuery } from './sync-state.dto.js';
import type { SyncStateResponse } from './sync-state.response.js';

interface HeadsRow {
  head: number;
  collections: Record<string, number>;
}

/** Heads of all synchronised collections of a caller. */
@Injectable()
export class SyncState {
  private heads: Statement<HeadsRow> | undefined;

  constructor(
    private readonly db: Db,
    private readonly feeds: FeedRetention,
    private readonly watch: HeadWatch,
  ) {}

  /**
   * One query. With `wait` the response is delayed until the caller's head differs from the one in the query.
   * @param signal fires when the client disconnects
   */
  async read(ctx: RequestContext, query: SyncStateQuery, signal: AbortSignal): Promise<SyncStateResponse> {
    const deadline = Date.now() + query.wait * 1000;
    for (;;) {
      const state = await this.current(ctx);
      const left = deadline - Date.now();
      const hasChanged = query.head === undefined || state.head !== query.head;
      if (hasChanged || left <= 0 || !(await this.watch.wait(ctx, state.head, left, signal)))
        return { ...state, server_time: new Date().toISOString() };
    }
  }

  private async current({ tenantId, userId }: RequestContext): Promise<HeadsRow> {
    const sources = this.feeds.sources.filter(({ numbers }) => numbers !== null);
    this.heads ??= headsOf(sources);
    const [row] = await this.db.query(this.heads, [tenantId, userId]);
    return (
      row ?? { head: 0, collections: Object.fromEntries(sources.map(({ collection }) => [collection, 0])) }
    );
  }
}

/**
 * One snapshot: the counter of the user and, per collection, its highest feed number. The floor counts too: a head never
 * falls when old removals are deleted.
 */
function headsOf(sources: readonly FeedSource[]): Statement<HeadsRow> {
  const heads = sources.flatMap(({ collection, numbers }) => {
    if (!numbers) return [];
    const { table, owner } = numbers;
    const last = `(SELECT seq FROM ${table} WHERE tenant_id = $1 AND ${owner} = $2 ORDER BY seq DESC LIMIT 1)`;
    return `'${collection}', greatest(${last}, (counter.floors->>'${collection}')::bigint, 0)`;
  });
  return workspace.statement<HeadsRow>(
    'sync.state',
    `SELECT counter.head::float8 AS head, json_build_object(${heads.join(', ')}) AS collections
       FROM sync_heads counter WHERE counter.tenant_id = $1 AND counter.user_id = $2`,
    { pipelined: true },
  );
}
