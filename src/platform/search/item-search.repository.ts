import type { RequestContext } from '../context/request-context.js';
import type { Db } from '../database/db.js';
import { workspace, type Statement } from '../database/statement.js';
import { fitsPage, PAGE_BYTES } from '../bounded-pages/page-bytes.js';
import type { IndexedDocument } from '../../lib/search-text/index.js';
import { type SearchTables, tsvectorArray } from './search-tables.js';

/** Limit of the matches that are ranked and counted: the most recently changed. Bounds the cost of a word that every item has. */
const MAX_MATCHES = 1_000;
/** The items of users with at most this many are compared one by one. The items of other users are found by the GIN index. */
const FEW_ITEMS = 300;
/** Characters that are read of a body beyond the limit of bytes. */
const FIRST_PART = 16_384;

/** The index row of an item that is not stored yet. */
export interface Overlay extends IndexedDocument {
  id: string;
  revision: number;
}

type SearchState = 'active' | 'trash' | 'all';

/** Restricts a search. `variant` names the conditions without their values: each variant is a statement of its own. */
export interface SearchFilter {
  variant: string;
  /** SQL that begins with AND, over the caller's row `member` of an item and the `item`. */
  sql: string;
}

/** @param folder an id, or `none` for items that are in no folder of the caller */
export function inFolder(folder: string | undefined, bind: (value: unknown) => string): SearchFilter {
  if (folder === undefined) return { variant: '', sql: '' };
  if (folder === 'none') return { variant: '.unfiled', sql: ' AND member.folder_id IS NULL' };
  return { variant: '.folder', sql: ` AND member.folder_id = ${bind(folder)}` };
}

export interface ItemSearchQuery {
  /** Text form of a tsquery for `findable` of the tables. */
  findable: string;
  /** The terms alone, for items whose access is checked elsewhere. */
  match: string;
  rank: string;
  state: SearchState;
  /** @param bind adds a value as a parameter */
  filter: (bind: (value: unknown) => string) => SearchFilter;
  limit: number;
  /** Score, time and id of the last item of the previous page. */
  after?: readonly [string, string, string];
  overlay: readonly Overlay[];
}

export interface SearchRow {
  /** All matches, up to `MAX_MATCHES`; on every row. */
  total: number;
  /** Whether changes of the caller are not indexed yet; on every row. */
  pending: boolean;
  /** Null on the only row of an empty page. */
  id: string | null;
  /** `score` and `listed` are texts without loss of precision: a cursor contains them. */
  score: string;
  listed: string;
  /** False means a hit beyond the bytes of the page, which has no further columns. */
  fits: boolean;
  title: string;
  /** Beginning of the item's text; null where the index row has another revision. */
  beginning: string | null;
}

const STATES = { active: ' AND NOT member.trashed', trash: ' AND member.trashed', all: '' };

/**
 * The key consists of the name of the tables and the variant. All applications of this process share the map, because a statement name has
 * one text.
 */
const STATEMENTS = new Map<string, Statement<SearchRow>>();

/** Search in the items of one user. Each combination of filters is a statement of its own. */
export class ItemSearchRepository<Row extends SearchRow> {
  private readonly bodiesOf: Statement<{ id: string; content: string }>;

  constructor(
    private readonly db: Db,
    private readonly tables: SearchTables,
  ) {
    const { name, items, members, item, body, bodyBytes } = tables;
    this.bodiesOf = workspace.statement(
      `${name}.search_bodies`,
      `WITH wanted AS MATERIALIZED (
         SELECT item.id, wanted.place, sum(${bodyBytes}) OVER (ORDER BY wanted.place) AS bytes
           FROM unnest($3::uuid[]) WITH ORDINALITY AS wanted (id, place)
           JOIN ${items} item ON item.tenant_id = $1 AND item.id = wanted.id
           JOIN ${members} member ON member.tenant_id = $1 AND member.${item} = item.id AND member.user_id = $2 AND member.role IS NOT NULL)
       SELECT wanted.id, CASE WHEN wanted.place = 1 OR wanted.bytes <= $4 THEN ${body} ELSE left(${body}, ${FIRST_PART}) END AS content
         FROM wanted JOIN ${items} item ON item.tenant_id = $1 AND item.id = wanted.id`,
      { onReplica: true },
    );
  }

  /** At most `limit` + 1 rows in the order of the response, then those beyond its bytes; one row without id where nothing is found. */
  search(ctx: RequestContext, query: ItemSearchQuery): Promise<Row[]> {
    const values: unknown[] = [
      ctx.tenantId,
      ctx.userId,
      query.findable,
      query.match,
      query.rank,
      query.limit,
      query.overlay.map(({ id }) => id),
      tsvectorArray(query.overlay.map(({ vector }) => vector)),
      query.overlay.map(({ revision }) => revision),
      query.overlay.map(({ beginning }) => beginning),
      PAGE_BYTES,
    ];
    const bind = (value: unknown): string => `$${values.push(value)}`;
    const { variant, sql } = query.filter(bind);
    let position = '';
    if (query.after) {
      const [score, listed, id] = query.after;
      position = `WHERE (score, listed_at, id) < (${bind(score)}::numeric, ${bind(listed)}::timestamptz, ${bind(id)}::uuid)`;
    }
    const name = `${query.state}.${variant}${query.after ? '.after' : ''}`;
    return this.db.query(this.statement(name, STATES[query.state], sql, position), values);
  }

  /** The bodies of these items: complete up to `bytes` in total (the first in any case), then only their first part. */
  bodies(ctx: RequestContext, ids: string[], bytes: number): Promise<{ id: string; content: string }[]> {
    return this.db.query(this.bodiesOf, [ctx.tenantId, ctx.userId, ids, bytes]);
  }

  private statement(variant: string, state: string, filter: string, position: string): Statement<Row> {
    const key = `${this.tables.name}.${variant}`;
    let found = STATEMENTS.get(key);
    if (!found) {
      const text = searchText(this.tables, state, filter, position);
      found = workspace.statement<SearchRow>(`${this.tables.name}.search.${STATEMENTS.size}`, text, {
        onReplica: true,
      });
      STATEMENTS.set(key, found);
    }
    return found as Statement<Row>;
  }
}

/**
 * For a user with few items, every item is compared (primary key of the index table); for other users the GIN index finds the
 * matches. The comparison is faster for few items, because a search for a prefix in the GIN index reads the entries of all users.
 * A one-time filter on `few` executes one of the two branches; OFFSET 0 keeps a generic plan from using the GIN index in the first
 * branch. The members table decides access. MATERIALIZED fixes the order of the steps.
 */
function searchText(tables: SearchTables, state: string, filter: string, position: string): string {
  const { items, index, members, view, shown, item, event, findable, hitBytes } = tables;
  const names = ['shown', ...shown.slice(1)].map((name) => `hit.${name}`).join(', ');
  const [json = '', ...more] = shown;
  const columns = [`viewed.${json} AS shown`, ...more.map((name) => `viewed.${name}`)].join(', ');
  return `WITH mine AS MATERIALIZED (
      SELECT member.${item} AS id FROM ${members} member
       WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.role IS NOT NULL${state} LIMIT ${FEW_ITEMS} + 1),
    few AS MATERIALIZED (SELECT count(*) <= ${FEW_ITEMS} AS yes FROM mine),
    hits AS MATERIALIZED (
      SELECT mine.id, indexed.tsv FROM mine CROSS JOIN LATERAL (
        SELECT tsv FROM ${index} WHERE tenant_id = $1 AND ${item} = mine.id OFFSET 0) indexed
       WHERE (SELECT yes FROM few) AND indexed.tsv @@ $4::tsquery AND mine.id <> ALL ($7::uuid[])
      UNION ALL
      SELECT ${item}, tsv FROM ${index}
       WHERE NOT (SELECT yes FROM few) AND tenant_id = $1 AND tsv @@ ${findable} AND ${item} <> ALL ($7::uuid[])
      UNION ALL
      SELECT overlay.id, overlay.tsv FROM unnest($7::uuid[], $8::tsvector[]) AS overlay (id, tsv) WHERE overlay.tsv @@ $4::tsquery),
    matched AS MATERIALIZED (
      SELECT hit.id, hit.tsv, member.listed_at FROM hits hit
        JOIN ${members} member ON member.tenant_id = $1 AND member.${item} = hit.id AND member.user_id = $2 AND member.role IS NOT NULL${state}${filter}
       ORDER BY member.listed_at DESC, hit.id DESC LIMIT ${MAX_MATCHES}),
    ranked AS (
      SELECT id, listed_at, round(ts_rank(tsv, $5::tsquery, 1)::numeric, 4) AS score FROM matched),
    page AS MATERIALIZED (
      SELECT id, listed_at, score FROM ranked ${position}
       ORDER BY score DESC, listed_at DESC, id DESC LIMIT $6 + 1),
    sized AS MATERIALIZED (
      SELECT page.id, page.listed_at, page.score, ${fitsPage(hitBytes, '$6', '$11')} AS fits
        FROM page JOIN ${items} item ON item.tenant_id = $1 AND item.id = page.id
      WINDOW page_order AS (ORDER BY page.score DESC, page.listed_at DESC, page.id DESC ROWS UNBOUNDED PRECEDING))
    SELECT (SELECT count(*) FROM matched)::int AS total,
           EXISTS (SELECT FROM outbox event WHERE tenant_id = $1 AND ${event} AND payload->>'actor_id' = $2::uuid::text) AS pending,
           sized.id, sized.score::text AS score, sized.listed_at::text AS listed, sized.fits, hit.title, ${names}, hit.beginning
      FROM (VALUES (1)) AS always (one)
      LEFT JOIN (sized LEFT JOIN LATERAL (
        SELECT item.title, ${columns},
               CASE item.revision WHEN overlay.revision THEN overlay.beginning WHEN indexed.revision THEN indexed.beginning END AS beginning
          FROM ${items} item
          JOIN ${view} viewed ON viewed.tenant_id = $1 AND viewed.user_id = $2 AND viewed.${item} = sized.id
          LEFT JOIN ${index} indexed ON indexed.tenant_id = $1 AND indexed.${item} = sized.id
          LEFT JOIN unnest($7::uuid[], $9::int[], $10::text[]) AS overlay (id, revision, beginning) ON overlay.id = sized.id
         WHERE sized.fits AND item.tenant_id = $1 AND item.id = sized.id OFFSET 0) hit ON true)
        ON NOT sized.fits OR hit.title IS NOT NULL
     ORDER BY sized.score DESC, sized.listed_at DESC, sized.id DESC`;
}
