import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { DataSource } from 'typeorm';
import { isRetryable, isTimeout } from '../../database/database-errors.js';
import type { Schema } from '../../database/schema/schema-part.js';

const ATTEMPTS = 20;
/** Time for which the statements wait for the lock. Other writers of the table wait behind them in that time. */
const LOCK_TIMEOUT_MS = 500;

/** Runs statements that lock a table, in a transaction. Retries while transactions of other workspaces hold the lock. */
export const runLocked = (client: pg.Client, statements: readonly string[]): Promise<void> =>
  lockedEach(client, [statements]);

/**
 * Runs the statements of each table in a transaction of its own, so that no other writer waits for more than one lock.
 * @param tables statements of each table, which have the same effect when they run again
 */
export async function lockedEach(client: pg.Client, tables: readonly (readonly string[])[]): Promise<void> {
  const transactions = tables.map((statements) =>
    ['BEGIN;', `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};`, ...statements, 'COMMIT;'].join('\n'),
  );
  // First all of them in one message: each round trip is time in which the users of the workspace cannot work.
  if (transactions.length > 1 && (await isDone(client, transactions.join('\n')))) return;
  for (const transaction of transactions)
    for (let attempt = 1; !(await isDone(client, transaction, attempt >= ATTEMPTS)); attempt += 1);
}

/** @returns whether the statements ran; false after a lock that others held, unless this attempt is the last: then its error */
async function isDone(client: pg.Client, message: string, isLast = false): Promise<boolean> {
  try {
    await client.query(message);
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    if (isLast || !(isTimeout(error) || isRetryable(error))) throw error;
    return false;
  }
}

const CLEARED_AT_ONCE = 5_000;

const { escapeIdentifier: quoted, escapeLiteral: literal } = pg;

const TABLES = `
SELECT class.relname AS name,
       (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
       (SELECT array_agg(attname::text ORDER BY position)
          FROM pg_index, unnest(indkey::smallint[]) WITH ORDINALITY AS part (number, position)
          JOIN pg_attribute ON attrelid = class.oid AND attnum = number
         WHERE indrelid = class.oid AND indisprimary) AS key,
       ARRAY(SELECT tgname::text FROM pg_trigger WHERE tgrelid = class.oid AND tgenabled = 'A' ORDER BY tgname) AS guards
  FROM pg_class AS class
 WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1)
   AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = class.oid AND attname = 'tenant_id')
 ORDER BY relname`;

/** Names of the tables of workspaces, also those that each database has. */
export const workspaceTableNames = (dataSource: DataSource, { parts }: Schema): string[] =>
  parts.flatMap(({ entities: { workspace = [], either = [] } }) =>
    [...workspace, ...either].map((entity) => dataSource.getMetadata(entity).tableName),
  );

/** The tables with rows of workspaces. @param names candidates, by their home */
export async function movedTables(client: pg.Client, names: readonly string[]): Promise<MovedTable[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; key: string[]; guards: string[] }>(
    TABLES,
    [names],
  );
  return rows.map(({ name, columns, key, guards }) => new MovedTable(name, columns, key, guards));
}

/** Number of rows of a workspace, and a checksum of all their values. */
export interface Content {
  rows: number;
  checksum: string;
}

/** SQL: whether a transaction wrote the row that the snapshot of the copy did not see. @param since the oldest such transaction */
export const isNewer = (since: string): string => `age(xmin) <= age(${literal(since)}::xid)`;

/** The rows of one workspace in one table, copied from one database to another. */
export class MovedTable {
  /** Identifies a row in a line of text. */
  private readonly key: string;

  constructor(
    readonly name: string,
    readonly columns: readonly string[],
    key: readonly string[],
    /** Names of the triggers that also fire in replication sessions (`ENABLE ALWAYS`): those of the audit log. */
    private readonly guards: readonly string[],
  ) {
    this.key = `encode(convert_to(ROW(${list(key)})::text, 'UTF8'), 'hex')`;
  }

  /** Copies the rows that the snapshot of `source` has. @returns their number */
  async copy(source: pg.Client, target: pg.Client, tenantId: string, condition = 'true'): Promise<number> {
    const written = target.query(copyFrom(`COPY ${quoted(this.name)} (${list(this.columns)}) FROM STDIN`));
    await pipeline(source.query(copyTo(`COPY (${this.rows(tenantId, condition)}) TO STDOUT`)), written);
    return written.rowCount;
  }

  /** SQL that reads the rows. */
  rows(tenantId: string, condition = 'true'): string {
    return `SELECT ${list(this.columns)} FROM ${this.of(tenantId)} AND ${condition}`;
  }

  /**
   * Applies to `target` the changes of `source` since {@link copy}.
   * @param since the oldest transaction that the snapshot of the copy did not see
   * @returns the number of rows that were written or removed again
   */
  async catchUp(source: pg.Client, target: pg.Client, tenantId: string, since: string): Promise<number> {
    const isNew = isNewer(since);
    const changed = await source.query<{ key: string }>(
      `SELECT ${this.key} AS key FROM ${this.of(tenantId)} AND ${isNew}`,
    );
    const keys = changed.rows.map(({ key }) => key);
    // The copy may contain some of these rows. Rows of the audit log cannot be deleted, but they never change: they are kept.
    const kept = this.guards.length > 0 ? await this.present(target, tenantId, keys) : [];
    if (kept.length === 0) await this.remove(target, tenantId, keys);
    const rewritten = keys.length - kept.length;
    const same = (await this.count(source, tenantId)) - rewritten === (await this.count(target, tenantId));
    // Deleted rows are removed first, because new rows may have their unique values.
    const removed = same ? [] : await this.missing(source, target, tenantId);
    await this.remove(target, tenantId, removed);
    const others = `${this.key} <> ALL (ARRAY[${kept.map(literal).join(', ')}]::text[])`;
    if (rewritten > 0) await this.copy(source, target, tenantId, `${isNew} AND ${others}`);
    return keys.length + removed.length;
  }

  /** SQL of the columns of {@link Content}. */
  content(tenantId: string): string {
    return `count(*)::float8 AS rows,
            coalesce(sum(hashtextextended(ROW(${list(this.columns)})::text, 0)), 0)::text AS checksum
       FROM ${this.of(tenantId)}`;
  }

  /** Deletes all rows of the workspace in batches. */
  async clear(client: pg.Client, tenantId: string): Promise<void> {
    const some = `DELETE FROM ${quoted(this.name)} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${this.of(tenantId)} LIMIT ${CLEARED_AT_ONCE}))`;
    if (this.guards.length === 0) {
      while ((await client.query(some)).rowCount === CLEARED_AT_ONCE);
      return;
    }
    // The triggers of the audit log reject deletions, so each batch disables them.
    const change = (action: string) =>
      this.guards.map((guard) => `ALTER TABLE ${quoted(this.name)} ${action} TRIGGER ${quoted(guard)};`);
    while ((await this.count(client, tenantId)) > 0)
      await runLocked(client, [...change('DISABLE'), `${some};`, ...change('ENABLE ALWAYS')]);
  }

  private async remove(client: pg.Client, tenantId: string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0)
      await client.query(`DELETE FROM ${this.of(tenantId)} AND ${this.key} = ANY ($1)`, [keys]);
  }

  /** @returns the keys whose rows exist */
  private async present(client: pg.Client, tenantId: string, keys: readonly string[]): Promise<string[]> {
    const { rows } = await client.query<{ key: string }>(
      `SELECT ${this.key} AS key FROM ${this.of(tenantId)} AND ${this.key} = ANY ($1)`,
      [keys],
    );
    return rows.map(({ key }) => key);
  }

  private async count(client: pg.Client, tenantId: string): Promise<number> {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::float8 AS count FROM ${this.of(tenantId)}`,
    );
    return rows[0]!.count;
  }

  /** Keys of the rows that only `target` has, by merging both sorted lists. */
  private async missing(source: pg.Client, target: pg.Client, tenantId: string): Promise<string[]> {
    const sorted = `COPY (SELECT ${this.key} AS key FROM ${this.of(tenantId)} ORDER BY ${this.key} COLLATE "C") TO STDOUT`;
    const lines = (client: pg.Client) =>
      createInterface({ input: client.query(copyTo(sorted)) })[Symbol.asyncIterator]();
    const present = lines(source);
    const missing: string[] = [];
    let next = await present.next();
    for await (const key of { [Symbol.asyncIterator]: () => lines(target) }) {
      while (!next.done && next.value < key) next = await present.next();
      if (next.done || next.value !== key) missing.push(key);
    }
    // Read to the end: the connection can be used again only after its stream has ended.
    while (!next.done) next = await present.next();
    return missing;
  }

  /** SQL of the table, and the condition of its rows. */
  of(tenantId: string): string {
    return `${quoted(this.name)} WHERE tenant_id = ${literal(tenantId)}`;
  }
}

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ');

const nameFor = (tenantId: string): string => `moving_${tenantId.replaceAll('-', '')}`;

/**
 * Makes every write of rows of the workspace fail with an error that clients see as 503 with Retry-After. Its creation waits for
 * the transactions that have written, so afterwards the rows do not change.
 */
export async function stopWrites(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<void> {
  const [name, tenant] = [nameFor(tenantId), literal(tenantId)];
  // Repeated attempts meet triggers that an earlier one has made.
  const trigger = (table: MovedTable, kind: string, events: string, row: string) =>
    `CREATE OR REPLACE TRIGGER ${kind}_${name} BEFORE ${events} ON ${quoted(table.name)} FOR EACH ROW
       WHEN (${row}.tenant_id = ${tenant}) EXECUTE FUNCTION workspace_is_moving();`;
  await lockedEach(
    client,
    tables.map((table) => [
      trigger(table, 'write', 'INSERT OR UPDATE', 'NEW'),
      trigger(table, 'delete', 'DELETE', 'OLD'),
    ]),
  );
}

/** Ends {@link stopWrites}. Does nothing for tables without it. */
export async function allowWrites(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<void> {
  const name = nameFor(tenantId);
  const { rows } = await client.query<{ table: string }>(
    `SELECT DISTINCT relname AS table FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE relnamespace = current_schema()::regnamespace AND tgname IN ($1, $2)`,
    [`write_${name}`, `delete_${name}`],
  );
  const found = new Set(rows.map(({ table }) => table));
  await lockedEach(
    client,
    tables
      .filter((table) => found.has(table.name))
      .map((table) =>
        ['write', 'delete'].map((kind) => `DROP TRIGGER IF EXISTS ${kind}_${name} ON ${quoted(table.name)};`),
      ),
  );
}
