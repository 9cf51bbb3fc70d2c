import { type Db, MAIN } from '../database/db.js';
import { workspace, type Statement } from '../database/statement.js';
import { type IndexedDocument, SEARCH_RULES } from '../../lib/search-text/index.js';
import { type SearchTables, tsvectorArray } from './search-tables.js';

/** An item whose index row is missing or was made from another version of the item. */
export interface StaleItem {
  id: string;
  title: string;
  labels: string[];
  body: string;
  revision: number;
  audience: string;
  readers: string[];
  /** Time of creation, as text without loss of precision. Distinguishes the item from an earlier one with the same id. */
  created: string;
  /** Version of the index row when the item was read; null where there was none. */
  replaces: string | null;
  /** Time of the read, by the clock of the database. */
  readAt: Date;
}

/** A stale item of a batch. */
export interface StaleItemOf extends StaleItem {
  tenantId: string;
}

/** A revision of an item to index. */
export interface ItemRevision {
  tenantId: string;
  id: string;
  revision: number;
}

/** Identifies an item. Clients choose ids, so items of two workspaces may have the same id. */
export const itemKey = ({ tenantId, id }: Pick<ItemRevision, 'tenantId' | 'id'>): string =>
  `${tenantId} ${id}`;

/** Position of a walk through all items. */
export interface IndexWalk {
  tenantId: string;
  itemId: string;
  /** False only for the last item of the slice, if its index row is current. */
  stale: boolean;
}

interface Statements {
  stale: Statement<StaleItem>;
  staleOf: Statement<StaleItemOf>;
  pending: Statement<StaleItem>;
  put: Statement<{ done: number }>;
  putAll: Statement<{ tenantId: string; id: string }>;
  walk: Statement<IndexWalk>;
}

/** SQL that writes the search index of a domain; `item-search.repository.ts` reads it. */
export class ItemIndexRepository {
  private readonly statements: Statements;

  constructor(
    private readonly db: Db,
    tables: SearchTables,
  ) {
    this.statements = statementsOf(tables);
  }

  /** Name of the cell that the caller works in. */
  get cell(): string {
    return this.db.currentCell ?? MAIN;
  }

  /**
   * The item where its index row is stale; undefined where it is current or the item does not exist.
   * @param revision a row of this or a later revision, with the same readers, counts as current
   */
  async findStale(
    tenantId: string,
    itemId: string,
    revision: number | null = null,
  ): Promise<StaleItem | undefined> {
    return (await this.db.query(this.statements.stale, [tenantId, itemId, revision]))[0];
  }

  /**
   * The items of a batch whose index row is stale, as `findStale` finds them.
   * @param bytes no further item is read once the bodies of the previous ones have this many bytes
   */
  staleOf(items: readonly ItemRevision[], bytes: number): Promise<StaleItemOf[]> {
    return this.db.query(this.statements.staleOf, [
      items.map(({ tenantId }) => tenantId),
      items.map(({ id }) => id),
      items.map(({ revision }) => revision),
      bytes,
    ]);
  }

  /**
   * The items with a stale index row among the last `limit` changes of this user.
   * @param bytes no further item is read once the bodies of the previous ones have this many bytes
   */
  listPending(tenantId: string, userId: string, limit: number, bytes: number): Promise<StaleItem[]> {
    return this.db.query(this.statements.pending, [tenantId, userId, limit, bytes]);
  }

  /** Stores the index row of an item. @returns false where the item was purged or another process stored a row first */
  async put(tenantId: string, item: StaleItem, { vector, beginning }: IndexedDocument): Promise<boolean> {
    const { id, revision, audience, created, replaces } = item;
    const values = [tenantId, id, revision, audience, vector, created, replaces, beginning];
    return (await this.db.single((tx) => tx.query(this.statements.put, values))).length > 0;
  }

  /** Stores the index rows of a batch, each as `put` does. @returns the items whose rows were stored */
  async putAll(rows: readonly { item: StaleItemOf; document: IndexedDocument }[]): Promise<StaleItemOf[]> {
    const column = <T>(of: (row: (typeof rows)[number]) => T) => rows.map(of);
    const values = [
      column(({ item }) => item.tenantId),
      column(({ item }) => item.id),
      column(({ item }) => item.revision),
      column(({ item }) => item.audience),
      tsvectorArray(column(({ document }) => document.vector)),
      column(({ item }) => item.created),
      column(({ item }) => item.replaces),
      column(({ document }) => document.beginning),
    ];
    const stored = new Set(
      (await this.db.single((tx) => tx.query(this.statements.putAll, values))).map(itemKey),
    );
    return column(({ item }) => item).filter((item) => stored.has(itemKey(item)));
  }

  /** The stale items among the `limit` items after this one, in order of tenant and id, and the last item of the slice. */
  walk(after: { tenantId: string; itemId: string }, limit: number): Promise<IndexWalk[]> {
    return this.db.query(this.statements.walk, [after.tenantId, after.itemId, limit]);
  }
}

function statementsOf(tables: SearchTables): Statements {
  const { name, items, index, members, item, audience, readers, body, bodyBytes, event } = tables;
  const rules = SEARCH_RULES + (tables.bodyRules ?? 0);
  const stale = (now: string) =>
    `(indexed.${item} IS NULL OR indexed.revision <> item.revision OR indexed.audience <> ${now} OR indexed.rules <> ${rules})`;
  const columns = `item.id, item.title, item.labels, coalesce(${body}, '') AS body, item.revision, ${audience} AS audience, ${readers} AS readers,
         item.created_at::text AS created, indexed.xmin::text AS replaces, clock_timestamp() AS "readAt"`;
  const joins = `LEFT JOIN ${index} indexed ON indexed.tenant_id = item.tenant_id AND indexed.${item} = item.id`;
  return {
    // The event of a revision needs no work if that revision or a later one is indexed: later ones have events of their own.
    stale: workspace.statement(
      `${name}_index.stale`,
      `SELECT ${columns} FROM ${items} item ${joins}
        WHERE item.tenant_id = $1 AND item.id = $2 AND ${stale(audience)}
          AND ($3::int IS NULL OR indexed.revision IS NULL OR indexed.revision < $3 OR indexed.audience <> ${audience})`,
    ),
    staleOf: workspace.statement(
      `${name}_index.stale_of`,
      `WITH sized AS MATERIALIZED (
         SELECT requested.tenant_id, requested.id, requested.revision, sum(${bodyBytes}) OVER (ORDER BY requested.position) - ${bodyBytes} AS bytes_before
           FROM unnest($1::uuid[], $2::uuid[], $3::int[]) WITH ORDINALITY AS requested (tenant_id, id, revision, position)
           JOIN ${items} item ON item.tenant_id = requested.tenant_id AND item.id = requested.id)
       SELECT sized.tenant_id AS "tenantId", ${columns}
         FROM sized JOIN ${items} item ON item.tenant_id = sized.tenant_id AND item.id = sized.id ${joins}
        WHERE sized.bytes_before <= $4 AND ${stale(audience)}
          AND (indexed.revision IS NULL OR indexed.revision < sized.revision OR indexed.audience <> ${audience})`,
      { reach: 'cell' },
    ),
    // The event of a change is in the outbox until the item is indexed. So the pending changes of a user are read from the outbox,
    // newest first, by its primary key (tenant_id, id).
    pending: workspace.statement(
      `${name}_index.pending`,
      `WITH mine AS MATERIALIZED (
         SELECT (payload->>'${item}')::uuid AS id, max(event.id::text) AS newest FROM (
           SELECT id, payload FROM outbox event
            WHERE tenant_id = $1 AND ${event} AND payload->>'actor_id' = $2::uuid::text
            ORDER BY id DESC LIMIT $3) event GROUP BY 1),
       sized AS MATERIALIZED (
         SELECT item.id, mine.newest, sum(${bodyBytes}) OVER (ORDER BY mine.newest DESC) - ${bodyBytes} AS bytes_before
           FROM mine JOIN ${items} item ON item.tenant_id = $1 AND item.id = mine.id
           JOIN ${members} member ON member.tenant_id = $1 AND member.${item} = item.id AND member.user_id = $2 AND member.role IS NOT NULL
           LEFT JOIN ${index} indexed ON indexed.tenant_id = $1 AND indexed.${item} = item.id
          WHERE ${stale(audience)})
       SELECT ${columns} FROM sized JOIN ${items} item ON item.tenant_id = $1 AND item.id = sized.id ${joins}
        WHERE sized.bytes_before <= $4`,
    ),
    // Compare-and-set: only the index row that existed when the item was read is replaced. A process with an older version of
    // the item reads the item again; no lock delays the writers of the item. FOR KEY SHARE prevents a purge meanwhile, so no words of
    // purged items are stored; the creation time detects another item with the same id.
    put: workspace.statement(
      `${name}_index.put`,
      `INSERT INTO ${index} AS indexed (tenant_id, ${item}, revision, audience, rules, tsv, beginning)
       SELECT item.tenant_id, item.id, $3, $4, ${rules}, $5::tsvector, $8 FROM ${items} item
        WHERE item.tenant_id = $1 AND item.id = $2 AND item.created_at = $6::timestamptz FOR KEY SHARE
       ON CONFLICT (tenant_id, ${item}) DO UPDATE
         SET revision = excluded.revision, audience = excluded.audience, rules = excluded.rules, tsv = excluded.tsv,
             beginning = excluded.beginning
       WHERE indexed.xmin::text = $7
       RETURNING 1 AS done`,
    ),
    // Stores a batch in the order of the ids, so that two processes do not wait for each other.
    putAll: workspace.statement(
      `${name}_index.put_all`,
      `WITH made AS MATERIALIZED (
         SELECT item.tenant_id, item.id, made.revision, made.audience, made.tsv, made.replaces, made.beginning
           FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[], $5::tsvector[], $6::text[], $7::text[], $8::text[])
                  AS made (tenant_id, id, revision, audience, tsv, created, replaces, beginning)
           JOIN ${items} item ON item.tenant_id = made.tenant_id AND item.id = made.id AND item.created_at = made.created::timestamptz
          ORDER BY item.tenant_id, item.id FOR KEY SHARE OF item),
       replaced AS (
         UPDATE ${index} indexed
            SET revision = made.revision, audience = made.audience, rules = ${rules}, tsv = made.tsv, beginning = made.beginning
           FROM made
          WHERE indexed.tenant_id = made.tenant_id AND indexed.${item} = made.id AND indexed.xmin::text = made.replaces
         RETURNING indexed.tenant_id, indexed.${item} AS id),
       added AS (
         INSERT INTO ${index} (tenant_id, ${item}, revision, audience, rules, tsv, beginning)
         SELECT tenant_id, id, revision, audience, ${rules}, tsv, beginning FROM made WHERE replaces IS NULL ORDER BY tenant_id, id
         ON CONFLICT (tenant_id, ${item}) DO NOTHING
         RETURNING tenant_id, ${item} AS id)
       SELECT tenant_id AS "tenantId", id FROM replaced UNION ALL SELECT tenant_id, id FROM added`,
      { reach: 'cell' },
    ),
    walk: workspace.statement(
      `${name}_index.walk`,
      `WITH slice AS MATERIALIZED (
         SELECT tenant_id, id, revision, ${audience} AS audience FROM ${items} item
          WHERE (tenant_id, id) > ($1::uuid, $2::uuid) ORDER BY tenant_id, id LIMIT $3),
       compared AS (
         SELECT item.tenant_id, item.id, ${stale('item.audience')} AS stale, lead(item.id) OVER (ORDER BY item.tenant_id, item.id) IS NULL AS last
           FROM slice item LEFT JOIN ${index} indexed ON indexed.tenant_id = item.tenant_id AND indexed.${item} = item.id)
       SELECT tenant_id AS "tenantId", id AS "itemId", stale FROM compared WHERE stale OR last ORDER BY 1, 2`,
      { reach: 'cell' },
    ),
  };
}
