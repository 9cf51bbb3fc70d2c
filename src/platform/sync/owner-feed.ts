import { Column, In, IsNull } from 'typeorm';
import type { RequestContext, MemberKey } from '../context/request-context.js';
import type { Db } from '../database/db.js';
import { type Statement, workspace } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';
import {
  type ColumnValues,
  type EntityClass,
  type Rows,
  rowsOf,
  type TenantWhere,
} from '../database/rows.js';
import { TimedItem } from '../database/schema/item.entity.js';
import {
  type ChangesRead,
  type FeedOwner,
  type FeedRead,
  type FeedSource,
  highestSeq,
  type IndexRead,
} from './feed-source.js';
import { allocate, expireCursors, lockHead } from './sync-heads.js';

/**
 * Columns of an item that only its owner sees and synchronises. The table has the primary key `(tenant_id, id)` and a
 * unique index on `(tenant_id, owner_id, seq)`.
 */
export abstract class OwnedItem extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('int') revision!: number;
  /** Number of the last change in the owner's feed. */
  @Column('bigint') seq!: string;
  /** Time of the deletion. The row stays: the feed delivers it as a removal. */
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
}

/** Fields that the engine writes itself. */
type Managed = 'tenant_id' | 'owner_id' | 'revision' | 'seq' | 'created_at' | 'updated_at' | 'gone_at';

interface FeedRecord {
  head: number;
  floor: number;
  /** Null means that the page has no rows. */
  seq: number | null;
  gone_at: Date | null;
}

/** Names of a collection; a `Resource` has them. */
export interface CollectionNames {
  /** Name in cursors, floors and statements; never changes. */
  readonly collection: string;
  /** Names of the list in responses. */
  readonly many: readonly string[];
  /** Path that rebuilds the index. */
  readonly indexPath: string;
}

const NOW = () => 'clock_timestamp()';

/**
 * A collection with one owner per item and a change feed: note folders, calendars, address books. It numbers each write
 * in the owner's feed, keeps deleted items as removals, and serves the feed.
 *
 * Writes need the lock of the owner's counter (`lock`), taken before the collection is read.
 */
export abstract class OwnerFeed<E extends OwnedItem> implements FeedSource {
  readonly collection: string;
  readonly plural: readonly string[];
  readonly indexPath: string;
  readonly numbers: FeedSource['numbers'];
  private readonly statements: ReturnType<typeof feedStatements>;

  constructor(
    protected readonly db: Db,
    private readonly entity: EntityClass<E>,
    names: CollectionNames,
  ) {
    this.collection = names.collection;
    this.plural = names.many;
    this.indexPath = names.indexPath;
    const { tableName, columns } = db.dataSource.getMetadata(entity);
    this.numbers = { table: tableName, owner: 'owner_id' };
    this.statements = feedStatements(
      this.collection,
      tableName,
      columns.map((column) => column.databaseName).filter((name) => name !== 'seq'),
    );
  }

  /** Shapes items for responses and the feed. */
  abstract present(reader: Reader, ctx: RequestContext, items: E[]): Promise<object[]>;

  /** Conditions for the caller's items that are not deleted. */
  protected whereOwn(ctx: MemberKey, where: object = {}): TenantWhere<E> {
    const { tenantId, userId } = ctx;
    return {
      ...where,
      tenant_id: tenantId,
      owner_id: userId,
      gone_at: IsNull(),
    } as unknown as TenantWhere<E>;
  }

  protected rows(reader: Reader): Rows<E> {
    return rowsOf(reader, this.entity);
  }

  /** An item of the caller, or null. */
  async find(ctx: RequestContext, id: string, reader: Reader = this.db): Promise<E | null> {
    return this.rows(reader).one(this.whereOwn(ctx, { id }));
  }

  /** Serialises the changes of the caller's collections until the end of the transaction. */
  async lock(tx: Tx, ctx: RequestContext): Promise<void> {
    await lockHead(tx, ctx);
  }

  /** Null means that the id is taken in this workspace. */
  async insert(tx: Tx, ctx: RequestContext, values: Omit<ColumnValues<E>, Managed>): Promise<E | null> {
    const { tenantId, userId } = ctx;
    const seq = (await allocate(tx, ctx, 1)) + 1;
    const managed = {
      tenant_id: tenantId,
      owner_id: userId,
      revision: 1,
      seq,
      created_at: NOW,
      updated_at: NOW,
    };
    return rowsOf(tx, this.entity).insert({ ...values, ...managed });
  }

  /** Writes the same values to these items; their feed numbers follow the order of `ids`. */
  async change(
    tx: Tx,
    ctx: RequestContext,
    ids: readonly string[],
    values: Omit<ColumnValues<E>, Managed>,
  ): Promise<E[]> {
    return this.write(tx, ctx, ids, { ...values, revision: () => 'revision + 1', updated_at: NOW });
  }

  /** Deletes these items: the feed delivers removals in the order of `ids`. */
  async remove(tx: Tx, ctx: RequestContext, ids: readonly string[]): Promise<E[]> {
    return this.write(tx, ctx, ids, { gone_at: NOW });
  }

  /**
   * Makes another user the owner of these items, numbered in the order of `ids` in the feed of that user. An item has one
   * row, so the former owner gets no removals: the cursors of the former owner expire. Both counters are locked.
   * @param values further columns; SQL expressions among them may use `:ids` and the parameters
   */
  async transfer(
    tx: Tx,
    { tenantId, from, to }: { tenantId: string; from: string; to: string },
    ids: readonly string[],
    values: object,
    parameters: object,
  ): Promise<E[]> {
    if (ids.length > 0) await expireCursors(tx, { tenantId, userId: from }, this.collection);
    const revised = { ...values, owner_id: to, revision: () => 'revision + 1', updated_at: NOW };
    return this.write(tx, { tenantId, userId: from }, ids, revised, { numbered: to, parameters });
  }

  /** @param numbered the user whose feed gets the numbers; default: the owner */
  private async write(
    tx: Tx,
    owner: MemberKey,
    ids: readonly string[],
    values: object,
    { numbered = owner.userId, parameters = {} } = {},
  ): Promise<E[]> {
    if (ids.length === 0) return [];
    const before = await allocate(tx, { ...owner, userId: numbered }, ids.length);
    const seq = () => ':before + array_position(:ids::uuid[], id)';
    return rowsOf(tx, this.entity).update(
      this.whereOwn(owner, { id: In(ids) }),
      { ...values, seq } as unknown as ColumnValues<E>,
      { ...parameters, before, ids },
    );
  }

  async changes(ctx: RequestContext, { after, limit, liveOnly }: ChangesRead): Promise<FeedRead> {
    const { changes, firstChanges } = this.statements;
    return this.page(ctx, liveOnly ? firstChanges : changes, after, limit);
  }

  async index(ctx: RequestContext, { upTo, limit }: IndexRead): Promise<FeedRead> {
    return this.page(ctx, this.statements.index, upTo, limit);
  }

  async ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]> {
    return this.db.query(this.statements.owners, [before, limit]);
  }

  async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    return highestSeq(await tx.query(this.statements.forget, [owner.tenant_id, owner.user_id, before]));
  }

  private async page(
    ctx: RequestContext,
    query: Statement<FeedRecord>,
    from: number | null,
    limit: number,
  ): Promise<FeedRead> {
    const records = await this.db.query(query, [ctx.tenantId, ctx.userId, from, limit]);
    const { head = 0, floor = 0 } = records[0] ?? {};
    const found = records.filter((record) => record.seq !== null);
    const page = found.slice(0, limit);
    const hydrate = (record: FeedRecord) => this.rows(this.db).hydrate(record);
    const live = page.filter((record) => record.gone_at === null).map(hydrate);
    const items = await this.present(this.db, ctx, live);
    const shown = new Map(live.map((item, n) => [item.id, items[n] as object]));
    const rows = found.map((record, n) => {
      if (n >= limit) return { seq: record.seq as number, json: null };
      const { id, gone_at } = hydrate(record);
      return { seq: record.seq as number, json: JSON.stringify(shown.get(id) ?? removal(id, gone_at)) };
    });
    return { head, floor, rows };
  }
}

const removal = (id: string, removedAt: Date | null): object => ({
  id,
  removed: true,
  deleted: true,
  reason: 'deleted',
  removed_at: removedAt,
});

/** Uses the unique index on `(tenant_id, owner_id, seq)`. Items are small: only their count bounds a page. */
function feedStatements(collection: string, table: string, columns: string[]) {
  const page = (name: string, where: string, order: 'ASC' | 'DESC') =>
    workspace.statement<FeedRecord>(
      `${collection}.${name}`,
      `SELECT counter.head::float8 AS head, coalesce((counter.floors->>'${collection}')::float8, 0) AS floor, ${columns.map((name) => `item.${name}`).join(', ')},
              item.seq::float8 AS seq
         FROM sync_heads counter
         LEFT JOIN LATERAL (
           SELECT seq, ${columns.join(', ')} FROM ${table}
            WHERE tenant_id = $1 AND owner_id = $2 AND ${where}
            ORDER BY seq ${order} LIMIT $4 + 1) item ON true
        WHERE counter.tenant_id = $1 AND counter.user_id = $2
        ORDER BY item.seq ${order}`,
    );
  const after = 'seq > $3 AND seq <= counter.head';
  return {
    changes: page('changes', after, 'ASC'),
    firstChanges: page('first_changes', `${after} AND gone_at IS NULL`, 'ASC'),
    index: page(
      'index',
      'seq <= least(counter.head, coalesce($3, counter.head)) AND gone_at IS NULL',
      'DESC',
    ),
    owners: workspace.statement<FeedOwner>(
      `${collection}.owners_with_removals`,
      `SELECT DISTINCT tenant_id, owner_id AS user_id FROM ${table} WHERE gone_at < $1 LIMIT $2`,
      { reach: 'cell' },
    ),
    forget: workspace.statement<{ seq: number }>(
      `${collection}.forget_removals`,
      `DELETE FROM ${table} WHERE tenant_id = $1 AND owner_id = $2 AND gone_at < $3 RETURNING seq::float8 AS seq`,
    ),
  };
}
