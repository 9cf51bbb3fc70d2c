import type { RequestContext } from '../context/request-context.js';
import type { Db } from '../database/db.js';
import { workspace, type Statement } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { fitsPage, PAGE_BYTES } from '../bounded-pages/page-bytes.js';
import {
  type ChangesRead,
  type FeedInclude,
  type FeedOwner,
  type FeedRead,
  feedRead,
  type FeedSource,
  type FeedSqlRow,
  highestSeq,
  type IndexRead,
} from './feed-source.js';

/** A collection whose items several users see: the table with a row for each user of each item, and the view of items. */
export interface MemberFeedTables {
  /** Name in cursors, floors and statements; never changes. */
  readonly collection: string;
  /** `(tenant_id, <item>, user_id, role, seq, gone, gone_at)`, with a unique index on `(tenant_id, user_id, seq)`. */
  readonly members: string;
  /** Its column that names the item. */
  readonly item: string;
  /** The items: their table, with the key `(tenant_id, id)`. */
  readonly items: string;
  /** SQL expression over the row `item`: approximate bytes of the item in a page. */
  readonly bytes: Record<FeedInclude, string>;
  /** The view of items as each user sees them, with `tenant_id` and `user_id`, and its column that names the item. */
  readonly view: string;
  readonly viewItem: string;
  /** Its column with an item's JSON. */
  readonly json: Record<FeedInclude, string>;
  /** Whether long JSON is read as bytes. */
  readonly longJsonAsBytes?: boolean;
  /** Further columns of the view that are read with each row. */
  readonly more?: readonly string[];
  /** SQL: the reason of the removal `entry`. */
  readonly reason: string;
}

type Statements<Row> = Record<FeedInclude, Statement<Row>>;

const AFTER = 'seq > $3 AND seq <= heads.head';
const UP_TO = 'seq <= least(heads.head, coalesce($3, heads.head)) AND role IS NOT NULL';

/** The feed of a collection with a row for each user and item: notes, tasks, task folders. */
export abstract class MemberFeed<Row extends FeedSqlRow = FeedSqlRow> implements FeedSource {
  abstract readonly plural: readonly string[];
  abstract readonly indexPath: string;
  private readonly fromStart: Statements<Row>;
  private readonly after: Statements<Row>;
  private readonly walk: Statements<Row>;
  private readonly owners: Statement<FeedOwner>;
  private readonly forget: Statement<{ seq: number }>;

  constructor(
    protected readonly db: Db,
    private readonly tables: MemberFeedTables,
  ) {
    const { collection, members, longJsonAsBytes: longTextsAsBytes } = tables;
    const both = (name: string, where: string, order: 'ASC' | 'DESC'): Statements<Row> => ({
      content: workspace.statement<Row>(`${collection}.${name}`, pageOf(tables, where, order, 'content'), {
        longTextsAsBytes,
      }),
      summary: workspace.statement<Row>(
        `${collection}.${name}_summary`,
        pageOf(tables, where, order, 'summary'),
      ),
    });
    this.after = both('changes', AFTER, 'ASC');
    this.fromStart = both('first_changes', `${AFTER} AND role IS NOT NULL`, 'ASC');
    this.walk = both('index', UP_TO, 'DESC');
    this.owners = workspace.statement(
      `${collection}.owners_with_removals`,
      `SELECT DISTINCT tenant_id, user_id FROM ${members} WHERE gone_at < $1 LIMIT $2`,
      { reach: 'cell' },
    );
    this.forget = workspace.statement(
      `${collection}.forget_removals`,
      `DELETE FROM ${members} WHERE tenant_id = $1 AND user_id = $2 AND role IS NULL AND gone_at < $3 RETURNING seq::float8 AS seq`,
    );
  }

  get collection(): string {
    return this.tables.collection;
  }

  get numbers() {
    return { table: this.tables.members, owner: 'user_id' };
  }

  async changes(ctx: RequestContext, { after, limit, liveOnly, include }: ChangesRead): Promise<FeedRead> {
    const query = (liveOnly ? this.fromStart : this.after)[include];
    const rows = await this.db.query(query, [ctx.tenantId, ctx.userId, after, limit, PAGE_BYTES]);
    return feedRead(await this.complete(ctx, rows));
  }

  async index(ctx: RequestContext, { upTo, limit, include }: IndexRead): Promise<FeedRead> {
    const rows = await this.db.query(this.walk[include], [ctx.tenantId, ctx.userId, upTo, limit, PAGE_BYTES]);
    return feedRead(await this.complete(ctx, rows));
  }

  async ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]> {
    return this.db.query(this.owners, [before, limit]);
  }

  async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    return highestSeq(await tx.query(this.forget, [owner.tenant_id, owner.user_id, before]));
  }

  /** Completes the JSON of items that the view leaves incomplete. Removals and records beyond the page stay unchanged. */
  protected complete(_ctx: RequestContext, rows: Row[]): Promise<Row[]> {
    return Promise.resolve(rows);
  }
}

/**
 * Uses the unique index on `(tenant_id, user_id, seq)`. Content is read by key for each row of the page, after its bytes: OFFSET 0
 * keeps the planner from joining the view, which could make the JSON of all items for each row.
 */
function pageOf(
  { collection, members, item, items, bytes, view, viewItem, json, more = [], reason }: MemberFeedTables,
  where: string,
  order: 'ASC' | 'DESC',
  include: FeedInclude,
): string {
  const columns = more.map((name) => `, viewed.${name}`).join('');
  return `WITH heads AS MATERIALIZED (
      SELECT head, coalesce((floors->>'${collection}')::bigint, 0) AS floor FROM sync_heads WHERE tenant_id = $1 AND user_id = $2),
    page AS MATERIALIZED (
      SELECT member.seq, member.${item} AS id, member.role, member.gone, member.gone_at,
             1024 + CASE WHEN item.id IS NULL THEN 0 ELSE ${bytes[include]} END AS bytes
        FROM heads JOIN LATERAL (
          SELECT * FROM ${members} WHERE tenant_id = $1 AND user_id = $2 AND ${where} ORDER BY seq ${order} LIMIT $4 + 1) member ON true
        LEFT JOIN ${items} item ON item.tenant_id = $1 AND item.id = member.${item} AND member.role IS NOT NULL),
    sized AS MATERIALIZED (
      SELECT *, ${fitsPage('bytes', '$4', '$5')} AS fits
        FROM page WINDOW page_order AS (ORDER BY seq ${order} ROWS UNBOUNDED PRECEDING))
    SELECT heads.head::float8 AS head, heads.floor::float8 AS floor, entry.seq::float8 AS seq,
           CASE WHEN NOT entry.fits THEN NULL
                WHEN entry.role IS NULL THEN json_build_object('id', entry.id, 'removed', true, 'deleted', true,
                       'reason', ${reason}, 'removed_at', rfc3339(entry.gone_at))::text
                ELSE viewed.json END AS json${columns}
      FROM heads LEFT JOIN sized entry ON true
      LEFT JOIN LATERAL (
        SELECT shown.${json[include]} AS json${more.map((name) => `, shown.${name}`).join('')}
          FROM ${view} shown
         WHERE entry.fits AND entry.role IS NOT NULL
           AND shown.tenant_id = $1 AND shown.user_id = $2 AND shown.${viewItem} = entry.id OFFSET 0) viewed ON true
     ORDER BY entry.seq ${order}`;
}
