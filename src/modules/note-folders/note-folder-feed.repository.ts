import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import {
  type ChangesRead,
  feedRead,
  type FeedOwner,
  type FeedRead,
  type FeedSource,
  type FeedSqlRow,
  highestSeq,
  type IndexRead,
} from '../../platform/sync/feed-source.js';

// Index: the unique one on (tenant_id, owner_id, seq). Folders are small: a page is bounded by its count alone.
const pageOf = (where: string, order: 'ASC' | 'DESC'): string => `WITH h AS MATERIALIZED (
    SELECT head, coalesce((floors->>'note_folders')::bigint, 0) AS floor FROM sync_heads WHERE tenant_id = $1 AND user_id = $2),
  page AS MATERIALIZED (
    SELECT f.* FROM h JOIN LATERAL (
      SELECT id, seq, gone_at FROM note_folders WHERE tenant_id = $1 AND owner_id = $2 AND ${where}
       ORDER BY seq ${order} LIMIT $4 + 1) f ON true)
  SELECT h.head::float8 AS head, h.floor::float8 AS floor, p.seq::float8 AS seq,
         CASE WHEN row_number() OVER (ORDER BY p.seq ${order}) > $4 THEN NULL
              WHEN p.gone_at IS NULL THEN v.folder
              ELSE json_build_object('id', p.id, 'removed', true, 'deleted', true, 'reason', 'deleted',
                     'removed_at', rfc3339(p.gone_at))::text END AS json
    FROM h LEFT JOIN page p ON true
    LEFT JOIN note_folder_views v ON v.tenant_id = $1 AND v.owner_id = $2 AND v.id = p.id
   ORDER BY p.seq ${order}`;

const changes = workspace.statement<FeedSqlRow>(
  'note_folders.changes',
  pageOf('seq > $3 AND seq <= h.head', 'ASC'),
);

const firstChanges = workspace.statement<FeedSqlRow>(
  'note_folders.first_changes',
  pageOf('seq > $3 AND seq <= h.head AND gone_at IS NULL', 'ASC'),
);

const index = workspace.statement<FeedSqlRow>(
  'note_folders.index',
  pageOf('seq <= least(h.head, coalesce($3, h.head)) AND gone_at IS NULL', 'DESC'),
);

const ownersWithRemovals = workspace.statement<FeedOwner>(
  'note_folders.owners_with_removals',
  `SELECT DISTINCT tenant_id, owner_id AS user_id FROM note_folders WHERE gone_at < $1 LIMIT $2`,
);

const forgetRemovals = workspace.statement<{ seq: number }>(
  'note_folders.forget_removals',
  `DELETE FROM note_folders WHERE tenant_id = $1 AND owner_id = $2 AND gone_at < $3 RETURNING seq::float8 AS seq`,
);

/** Note folders as a synchronised collection. */
@Injectable()
export class NoteFolderFeedRepository implements FeedSource {
  readonly collection = 'note_folders';
  readonly plural = ['folders', 'note_folders'];
  readonly indexPath = '/apis/v1/note_folders/index';

  constructor(private readonly db: Db) {}

  async changes(ctx: RequestContext, { after, limit, liveOnly }: ChangesRead): Promise<FeedRead> {
    return feedRead(
      await this.db.query(liveOnly ? firstChanges : changes, [ctx.tenantId, ctx.userId, after, limit]),
    );
  }

  async index(ctx: RequestContext, { upTo, limit }: IndexRead): Promise<FeedRead> {
    return feedRead(await this.db.query(index, [ctx.tenantId, ctx.userId, upTo, limit]));
  }

  async ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]> {
    return this.db.query(ownersWithRemovals, [before, limit]);
  }

  async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    const rows = await tx.query(forgetRemovals, [owner.tenant_id, owner.user_id, before]);
    return highestSeq(rows);
  }
}
