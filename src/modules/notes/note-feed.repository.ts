import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
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

/** Bytes of one page, roughly; the first record is given out whatever its size. */
const PAGE_BYTES = 4 * 1024 * 1024;

const HEAD = `h AS MATERIALIZED (
    SELECT head, coalesce((floors->>'notes')::bigint, 0) AS floor FROM sync_heads WHERE tenant_id = $1 AND user_id = $2)`;

const REMOVAL = `json_build_object('id', s.note_id, 'removed', true, 'deleted', true,
    'reason', CASE s.gone WHEN 1 THEN 'unshared' ELSE 'purged' END, 'removed_at', rfc3339(s.gone_at))::text`;

/** @param content whether the notes come with their content, which then counts for the size of the page */
function pageOf(where: string, order: 'ASC' | 'DESC', content: boolean): string {
  const weight = `1024 + 256 * coalesce(cardinality(n.member_ids), 0)${content ? ' + coalesce(n.content_bytes, 0)' : ''}`;
  // Index note_members_feed. Rows beyond the page's bytes are counted but not read.
  return `WITH ${HEAD},
    page AS MATERIALIZED (
      SELECT m.seq, m.note_id, m.role, m.gone, m.gone_at, ${weight} AS bytes
        FROM h JOIN LATERAL (
          SELECT * FROM note_members WHERE tenant_id = $1 AND user_id = $2 AND ${where} ORDER BY seq ${order} LIMIT $4 + 1) m ON true
        LEFT JOIN notes n ON n.tenant_id = $1 AND n.id = m.note_id AND m.role IS NOT NULL),
    sized AS (
      SELECT *, row_number() OVER w AS i, sum(bytes) OVER w AS total
        FROM page WINDOW w AS (ORDER BY seq ${order} ROWS UNBOUNDED PRECEDING))
    SELECT h.head::float8 AS head, h.floor::float8 AS floor, s.seq::float8 AS seq,
           CASE WHEN s.i > $4 OR (s.i > 1 AND s.total > $5) THEN NULL
                WHEN s.role IS NULL THEN ${REMOVAL}
                ELSE v.${content ? 'note' : 'summary'} END AS json
      FROM h LEFT JOIN sized s ON true
      LEFT JOIN note_views v ON v.tenant_id = $1 AND v.user_id = $2 AND v.note_id = s.note_id
     ORDER BY s.seq ${order}`;
}

const AFTER = 'seq > $3 AND seq <= h.head';
const UP_TO = 'seq <= least(h.head, coalesce($3, h.head)) AND role IS NOT NULL';

const changes = {
  content: statement<FeedSqlRow>('notes.changes', pageOf(AFTER, 'ASC', true)),
  summary: statement<FeedSqlRow>('notes.changes_summary', pageOf(AFTER, 'ASC', false)),
};

const firstChanges = {
  content: statement<FeedSqlRow>('notes.first_changes', pageOf(`${AFTER} AND role IS NOT NULL`, 'ASC', true)),
  summary: statement<FeedSqlRow>(
    'notes.first_changes_summary',
    pageOf(`${AFTER} AND role IS NOT NULL`, 'ASC', false),
  ),
};

const index = {
  content: statement<FeedSqlRow>('notes.index', pageOf(UP_TO, 'DESC', true)),
  summary: statement<FeedSqlRow>('notes.index_summary', pageOf(UP_TO, 'DESC', false)),
};

const ownersWithRemovals = statement<FeedOwner>(
  'notes.owners_with_removals',
  `SELECT DISTINCT tenant_id, user_id FROM note_members WHERE gone_at < $1 LIMIT $2`,
);

const forgetRemovals = statement<{ seq: number }>(
  'notes.forget_removals',
  `DELETE FROM note_members WHERE tenant_id = $1 AND user_id = $2 AND role IS NULL AND gone_at < $3 RETURNING seq::float8 AS seq`,
);

/** Notes as a synchronised collection. */
@Injectable()
export class NoteFeedRepository implements FeedSource {
  readonly collection = 'notes';
  readonly plural = ['notes'];
  readonly indexPath = '/apis/v1/notes/index';

  constructor(private readonly db: Db) {}

  async changes(ctx: RequestContext, { after, limit, liveOnly, include }: ChangesRead): Promise<FeedRead> {
    const query = (liveOnly ? firstChanges : changes)[include];
    return feedRead(await this.db.query(query, [ctx.tenantId, ctx.userId, after, limit, PAGE_BYTES]));
  }

  async index(ctx: RequestContext, { upTo, limit, include }: IndexRead): Promise<FeedRead> {
    return feedRead(await this.db.query(index[include], [ctx.tenantId, ctx.userId, upTo, limit, PAGE_BYTES]));
  }

  async ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]> {
    return this.db.query(ownersWithRemovals, [before, limit]);
  }

  async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    const rows = await tx.query(forgetRemovals, [owner.tenant_id, owner.user_id, before]);
    return highestSeq(rows);
  }
}
