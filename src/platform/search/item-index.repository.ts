import type { Db } from '../database/db.js';
import { workspace, type Statement } from '../database/statement.js';
import { type IndexedDocument, SEARCH_RULES } from '../../lib/search-text/index.js';
import type { SearchTables } from './search-tables.js';

/** An item whose index row is missing or was made from another state of it. */
export interface StaleItem {
  id: string;
  title: string;
  labels: string[];
  body: string;
  revision: number;
  audience: string;
  readers: string[];
  /** As text that PostgreSQL reads back exactly; tells an item from an earlier one with the same id. */
  created: string;
  /** Which index row was there when the item was read; null when there was none. */
  replaces: string | null;
  /** When it was read, by the database's clock. */
  readAt: Date;
}

/** Where a walk through all items stands. */
export interface IndexWalk {
  tenantId: string;
  itemId: string;
  /** False for the last item looked at, when it is as it should be. */
  stale: boolean;
}

interface Statements {
  stale: Statement<StaleItem>;
  pending: Statement<StaleItem>;
  put: Statement<{ done: number }>;
  walk: Statement<IndexWalk>;
}

/** All SQL that keeps the search index of a domain's items; `item-search.repository.ts` reads it. */
export abstract class ItemIndexRepository {
  private readonly statements: Statements;

  constructor(
    private readonly db: Db,
    tables: SearchTables,
  ) {
    this.statements = statementsOf(tables);
  }

  /**
   * The item when its index row is stale; undefined when it is not, or when there is no such item.
   * @param revision a row of this or a later revision is good enough, when it is for the same people
   */
  async stale(
    tenantId: string,
    itemId: string,
    revision: number | null = null,
  ): Promise<StaleItem | undefined> {
    return (await this.db.query(this.statements.stale, [tenantId, itemId, revision]))[0];
  }

  /**
   * The items this person has changed that are not indexed as they are now, among their last `limit` changes.
   * @param bytes of bodies beyond which no further item is read
   */
  pending(tenantId: string, userId: string, limit: number, bytes: number): Promise<StaleItem[]> {
    return this.db.query(this.statements.pending, [tenantId, userId, limit, bytes]);
  }

  /** Stores what a search needs of an item. @returns false when it is gone or another has stored words meanwhile */
  async put(tenantId: string, item: StaleItem, { vector, beginning }: IndexedDocument): Promise<boolean> {
    const { id, revision, audience, created, replaces } = item;
    const values = [tenantId, id, revision, audience, vector, created, replaces, beginning];
    return (await this.db.single((tx) => tx.query(this.statements.put, values))).length > 0;
  }

  /** The stale ones among the `limit` items after the given one, in order of tenant and id, and the last of them all. */
  walk(after: { tenantId: string; itemId: string }, limit: number): Promise<IndexWalk[]> {
    return this.db.query(this.statements.walk, [after.tenantId, after.itemId, limit]);
  }
}

function statementsOf(tables: SearchTables): Statements {
  const { name, items, index, members, item, audience, readers, body, bodyJoin, bodyBytes, event } = tables;
  const stale = (now: string) =>
    `(s.${item} IS NULL OR s.revision <> n.revision OR s.audience <> ${now} OR s.rules <> ${SEARCH_RULES})`;
  const columns = `n.id, n.title, n.labels, coalesce(${body}, '') AS body, n.revision, ${audience} AS audience, ${readers} AS readers,
         n.created_at::text AS created, s.xmin::text AS replaces, clock_timestamp() AS "readAt"`;
  const joins = `LEFT JOIN ${index} s ON s.tenant_id = n.tenant_id AND s.${item} = n.id ${bodyJoin}`;
  return {
    // An event is dealt with when its revision is indexed: newer ones have events of their own.
    stale: workspace.statement(
      `${name}_index.stale`,
      `SELECT ${columns} FROM ${items} n ${joins}
        WHERE n.tenant_id = $1 AND n.id = $2 AND ${stale(audience)}
          AND ($3::int IS NULL OR s.revision IS NULL OR s.revision < $3 OR s.audience <> ${audience})`,
    ),
    // Every change of an item is in the outbox until it has been indexed, so those of one person that have not been are
    // found there (primary key: tenant_id, id), the newest first.
    pending: workspace.statement(
      `${name}_index.pending`,
      `WITH mine AS MATERIALIZED (
         SELECT (payload->>'${item}')::uuid AS id, max(x.id::text) AS newest FROM (
           SELECT id, payload FROM outbox e
            WHERE tenant_id = $1 AND ${event} AND payload->>'actor_id' = $2::uuid::text
            ORDER BY id DESC LIMIT $3) x GROUP BY 1),
       sized AS MATERIALIZED (
         SELECT n.id, mine.newest, sum(${bodyBytes}) OVER (ORDER BY mine.newest DESC) - ${bodyBytes} AS bytes_before
           FROM mine JOIN ${items} n ON n.tenant_id = $1 AND n.id = mine.id
           JOIN ${members} m ON m.tenant_id = $1 AND m.${item} = n.id AND m.user_id = $2 AND m.role IS NOT NULL
           LEFT JOIN ${index} s ON s.tenant_id = $1 AND s.${item} = n.id
          WHERE ${stale(audience)})
       SELECT ${columns} FROM sized JOIN ${items} n ON n.tenant_id = $1 AND n.id = sized.id ${joins}
        WHERE sized.bytes_before <= $4`,
    ),
    // Compare-and-set: only the row that was seen when the item was read is replaced. So whoever read an older state of it
    // has to look again, without a lock on the item that would keep its writers waiting. Its row is locked against removal
    // only: what is purged leaves no words behind, and an item made anew under the same id is another one.
    put: workspace.statement(
      `${name}_index.put`,
      `INSERT INTO ${index} AS s (tenant_id, ${item}, revision, audience, rules, tsv, beginning)
       SELECT n.tenant_id, n.id, $3, $4, ${SEARCH_RULES}, $5::tsvector, $8 FROM ${items} n
        WHERE n.tenant_id = $1 AND n.id = $2 AND n.created_at = $6::timestamptz FOR KEY SHARE
       ON CONFLICT (tenant_id, ${item}) DO UPDATE
         SET revision = excluded.revision, audience = excluded.audience, rules = excluded.rules, tsv = excluded.tsv,
             beginning = excluded.beginning
       WHERE s.xmin::text = $7
       RETURNING 1 AS done`,
    ),
    walk: workspace.statement(
      `${name}_index.walk`,
      `WITH slice AS MATERIALIZED (
         SELECT tenant_id, id, revision, ${audience} AS audience FROM ${items} n
          WHERE (tenant_id, id) > ($1::uuid, $2::uuid) ORDER BY tenant_id, id LIMIT $3),
       judged AS (
         SELECT n.tenant_id, n.id, ${stale('n.audience')} AS stale, lead(n.id) OVER (ORDER BY n.tenant_id, n.id) IS NULL AS last
           FROM slice n LEFT JOIN ${index} s ON s.tenant_id = n.tenant_id AND s.${item} = n.id)
       SELECT tenant_id AS "tenantId", id AS "itemId", stale FROM judged WHERE stale OR last ORDER BY 1, 2`,
    ),
  };
}
