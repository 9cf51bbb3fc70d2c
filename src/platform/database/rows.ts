import { isDeepStrictEqual } from 'node:util';
import type {
  EntityManager,
  FindOptionsSelect,
  FindOptionsWhere,
  ObjectLiteral,
  SelectQueryBuilder,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { boundedPage, PAGE_BYTES } from '../bounded-pages/page-bytes.js';
import { homeOf } from './schema/schema-part.js';
import type { Reader } from './tx.js';
import { Tx } from './tx.js';

export type EntityClass<E> = new () => E;

/**
 * A row of a workspace: every key and every query begins with its tenant. A property of an entity has the name of its column, so
 * that statements and entities share one declaration of a row.
 */
export interface TenantRow extends ObjectLiteral {
  tenant_id: string;
}

/** Conditions of a query; a query without the tenant does not compile. */
export type TenantWhere<E> = FindOptionsWhere<E> & { tenant_id: string };

/** Values of columns to write; a function returns an SQL expression. */
export type ColumnValues<E> = QueryDeepPartialEntity<E>;

/** The time of the transaction, as a value to write. */
export const NOW = (): string => 'now()';

/** Sort key of a list: columns that together are unique, in the order of comparison. */
export type SortKey<E> = readonly (keyof E & string)[];

/** Typed reads of one entity through TypeORM, for tables that are not performance-critical. */
export class Rows<E extends TenantRow> {
  constructor(
    protected readonly reader: Reader,
    protected readonly entity: EntityClass<E>,
  ) {}

  async one(where: TenantWhere<E>): Promise<E | null> {
    return this.use(where, (manager) => manager.findOneBy(this.entity, where));
  }

  async count(where: TenantWhere<E>): Promise<number> {
    return this.use(where, (manager) => manager.countBy(this.entity, where));
  }

  /** @param columns to read; default: all */
  async all(where: TenantWhere<E>, columns?: (keyof E & string)[]): Promise<E[]> {
    const select =
      columns && (Object.fromEntries(columns.map((name) => [name, true])) as FindOptionsSelect<E>);
    return this.use(where, (manager) => manager.find(this.entity, { where, ...(select && { select }) }));
  }

  /**
   * Reads up to `limit` rows in the order of `key`.
   * @param after values of `key` in the row before the first; undefined: from the start
   * @param order of each column of `key`
   */
  async page(
    where: TenantWhere<E>,
    key: SortKey<E>,
    after: readonly unknown[] | undefined,
    limit: number,
    order: 'ASC' | 'DESC' = 'ASC',
  ): Promise<E[]> {
    return this.use(where, (manager) =>
      this.keyset(manager, where, key, after, order).limit(limit).getMany(),
    );
  }

  private keyset(
    manager: EntityManager,
    where: TenantWhere<E>,
    key: SortKey<E>,
    after: readonly unknown[] | undefined,
    order: 'ASC' | 'DESC',
  ): SelectQueryBuilder<E> {
    const query = manager.createQueryBuilder(this.entity, 'item').where(where);
    for (const column of key) query.addOrderBy(`item.${column}`, order);
    if (after === undefined) return query;
    const columns = key.map((column) => `item.${column}`).join(', ');
    const values = key.map((_, n) => `:after${n}`).join(', ');
    const parameters = Object.fromEntries(after.map((value, n) => [`after${n}`, value]));
    return query.andWhere(`(${columns}) ${order === 'ASC' ? '>' : '<'} (${values})`, parameters);
  }

  /**
   * Reads a `page` that ends at the bytes of a page too. Rows beyond them have only their keys, and `fits` false.
   * @param size SQL: the bytes of a row of `item`, without reading its content
   */
  async boundedPage(
    where: TenantWhere<E>,
    key: SortKey<E>,
    after: readonly unknown[] | undefined,
    limit: number,
    { size, order = 'ASC' }: { size: string; order?: 'ASC' | 'DESC' },
  ): Promise<(E & { fits: boolean })[]> {
    const { columns, primaryColumns, tablePath } = this.reader.dataSource.getMetadata(this.entity);
    const keys = new Set([...primaryColumns.map(({ databaseName }) => databaseName), ...key]);
    return this.use(where, async (manager) => {
      const query = this.keyset(manager, where, key, after, order).limit(limit).select(size, 'bytes');
      for (const name of keys) query.addSelect(`item.${name}`, name);
      const [text, values] = query.getQueryAndParameters();
      const rows = await manager.query<(ObjectLiteral & { fits: boolean })[]>(
        boundedPage({
          keys: text,
          order: key.map((name) => `sized.${name} ${order}`).join(', '),
          limit: `$${values.length + 1}::int`,
          bytes: `$${values.length + 2}::bigint`,
          columns: [...keys]
            .map((name) => `sized.${name}`)
            .concat('sized.fits', 'shown.*')
            .join(', '),
          shown: {
            columns: columns
              .filter(({ databaseName }) => !keys.has(databaseName))
              .map(({ databaseName }) => `item.${databaseName}`)
              .join(', '),
            from: `${tablePath} item WHERE ${primaryColumns.map(({ databaseName: name }) => `item.${name} = sized.${name}`).join(' AND ')}`,
          },
        }),
        [...values, limit, PAGE_BYTES],
      );
      return rows.map((row) => Object.assign(this.hydrate(row), { fits: row.fits }));
    });
  }

  /** Makes an entity of a row with the names of the table's columns. */
  hydrate(raw: ObjectLiteral): E {
    const { dataSource } = this.reader;
    const row = new this.entity() as ObjectLiteral;
    for (const column of dataSource.getMetadata(this.entity).columns) {
      const name = column.databaseName;
      row[name] = dataSource.driver.prepareHydratedValue(raw[name], column);
    }
    return row as E;
  }

  /** @param row of the workspace whose rows `work` reads or writes */
  protected async use<T>(
    { tenant_id }: ObjectLiteral,
    work: (manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    const manager = this.reader.managerOf(homeOf(this.entity) === 'directory' ? null : (tenant_id as string));
    return work(manager instanceof Promise ? await manager : manager);
  }
}

/** Typed reads and writes inside a transaction, one statement each. Writes return the stored rows. */
export class WritableRows<E extends TenantRow> extends Rows<E> {
  /** Reads a row and locks it until the end of the transaction. */
  async lock(where: TenantWhere<E>): Promise<E | null> {
    return this.use(where, (manager) =>
      manager.findOne(this.entity, { where, lock: { mode: 'pessimistic_write' } }),
    );
  }

  /** Null means that a row with the same key exists. */
  async insert(values: ColumnValues<E>): Promise<E | null> {
    const { raw } = await this.use(values, (manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(this.entity)
        .values(values)
        .orIgnore()
        .returning('*')
        .updateEntity(false)
        .execute(),
    );
    return this.hydrated(raw)[0] ?? null;
  }

  /** Inserts a row, or sets the other columns of the row with the same `key`. */
  async store(key: (keyof E & string)[], values: ColumnValues<E>): Promise<void> {
    const others = Object.keys(values).filter((name) => !(key as string[]).includes(name));
    await this.use(values, (manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(this.entity)
        .values(values)
        .orUpdate(others, key)
        .updateEntity(false)
        .execute(),
    );
  }

  /** @param parameters of the SQL expressions among the values */
  async update(where: TenantWhere<E>, values: ColumnValues<E>, parameters: ObjectLiteral = {}): Promise<E[]> {
    const { raw } = await this.use(where, (manager) => {
      const update = manager.createQueryBuilder().update(this.entity).set(values).where(where);
      return update.setParameters(parameters).returning('*').updateEntity(false).execute();
    });
    return this.hydrated(raw);
  }

  async delete(where: TenantWhere<E>): Promise<E[]> {
    const { raw } = await this.use(where, (manager) =>
      manager.createQueryBuilder().delete().from(this.entity).where(where).returning('*').execute(),
    );
    return this.hydrated(raw);
  }

  private hydrated(raw: unknown): E[] {
    return (raw as ObjectLiteral[]).map((row) => this.hydrate(row));
  }
}

/**
 * The rows of an entity, by TypeORM's `EntityManager` of this reader. A `Db` gives reads; only a `Tx` gives writes.
 * `save`, `remove`, cascades and lazy or eager relations are missing, because they execute statements that the code does not show.
 */
export function rowsOf<E extends TenantRow>(tx: Tx, entity: EntityClass<E>): WritableRows<E>;
export function rowsOf<E extends TenantRow>(reader: Reader, entity: EntityClass<E>): Rows<E>;
export function rowsOf<E extends TenantRow>(reader: Reader, entity: EntityClass<E>): Rows<E> {
  return reader instanceof Tx ? new WritableRows(reader, entity) : new Rows(reader, entity);
}

/** Fields of `wanted` that are defined and differ from those of `current`; null when there are none. */
export function changedFields<T extends object>(current: T, wanted: Partial<T>): Partial<T> | null {
  const changed = Object.entries(wanted).filter(
    ([key, value]) => value !== undefined && !isDeepStrictEqual(value, current[key as keyof T]),
  );
  return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<T>);
}
