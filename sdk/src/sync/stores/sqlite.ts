import type { Row } from '../rows/row.js';
import { type Store, StoreFullError, type StoreTransaction, type TransactionMode } from '../store.js';
import { Mutex } from './mutex.js';

type Value = string | number | null;

/** What the store uses of a database: `DatabaseSync` of `node:sqlite` has it, and so has `better-sqlite3`. */
export interface SqliteDatabase {
  /** Runs statements without values. */
  exec(sql: string): unknown;
  /** Compiles a statement with positional values. */
  prepare(sql: string): {
    /** Writes. */
    run(...values: Value[]): unknown;
    /** @returns the first row, with its columns as properties; undefined if there is none */
    get(...values: Value[]): unknown;
    /** @returns all rows */
    all(...values: Value[]): unknown[];
  };
  /** Closes the file. */
  close(): unknown;
}

/**
 * `exclusive`: a second process that opens the file fails at once, instead of sending the same changes. The log has up to 16 MB, four times the
 * default: each transfer of the log into the file waits for the disk, and a page of the service may have 4 MB.
 */
const SETTINGS = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = 4000;`;

/** `FULL`: a commit survives a loss of power, and with it those before it. `NORMAL`: the file stays consistent. */
const DURABILITY: Record<Exclude<TransactionMode, 'read'>, string> = {
  write: 'PRAGMA synchronous = FULL',
  relaxed: 'PRAGMA synchronous = NORMAL',
};

/** The index by feed and id is apart from the rows: SQLite would move whole contents to keep them in its order. Files that exist keep their form. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS workspace_rows (
    feed TEXT NOT NULL, id TEXT NOT NULL, place INTEGER, row TEXT NOT NULL, PRIMARY KEY (feed, id)
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS workspace_rows_place ON workspace_rows (place) WHERE place IS NOT NULL;
  CREATE TABLE IF NOT EXISTS workspace_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;`;

/** The result code of SQLite for a full disk, and for `PRAGMA max_page_count`. */
const SQLITE_FULL = 13;

/**
 * A store in a SQLite file, for one process.
 * @param database the store closes it. A file for each user.
 * @throws StoreFullError; Error of SQLite, `database is locked`, if another process has opened the file
 */
export function sqliteStore(database: SqliteDatabase): Store {
  try {
    database.exec(SETTINGS);
    database.exec(`${DURABILITY.write}; BEGIN IMMEDIATE; ${TABLES} COMMIT`);
  } catch (error) {
    throw isFull(error) ? new StoreFullError(error) : error;
  }
  const tx = transactionOn(database);
  const mutex = new Mutex();
  return {
    // One connection: another work must not run between the statements of a transaction, not even a read.
    transaction: (mode, work) =>
      mutex.run(() => (mode === 'read' ? work(tx) : writing(database, mode, tx, work))),
    close: async () => void database.close(),
  };
}

async function writing<T>(
  database: SqliteDatabase,
  mode: Exclude<TransactionMode, 'read'>,
  tx: StoreTransaction,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  database.exec(`${DURABILITY[mode]}; BEGIN IMMEDIATE`);
  try {
    const result = await work(tx);
    database.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(database);
    throw isFull(error) ? new StoreFullError(error) : error;
  }
}

/** A full disk may have rolled the transaction back already. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // No transaction is active.
  }
}

const isFull = (error: unknown): boolean => {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return errcode === SQLITE_FULL || code === 'SQLITE_FULL';
};

function transactionOn(database: SqliteDatabase): StoreTransaction {
  const get = database.prepare('SELECT row FROM workspace_rows WHERE feed = ? AND id = ?');
  const put = database.prepare(
    `INSERT INTO workspace_rows (feed, id, place, row) VALUES (?, ?, ?, ?)
     ON CONFLICT (feed, id) DO UPDATE SET place = excluded.place, row = excluded.row`,
  );
  const remove = database.prepare('DELETE FROM workspace_rows WHERE feed = ? AND id = ?');
  const rows = database.prepare(
    'SELECT row FROM workspace_rows WHERE feed = ? AND id > ? ORDER BY id LIMIT ?',
  );
  const pending = database.prepare('SELECT row FROM workspace_rows WHERE place > ? ORDER BY place LIMIT ?');
  const readMeta = database.prepare('SELECT value FROM workspace_meta WHERE key = ?');
  const writeMeta = database.prepare(
    `INSERT INTO workspace_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  );
  const removeMeta = database.prepare('DELETE FROM workspace_meta WHERE key = ?');
  const parsed = (found: unknown) => JSON.parse((found as { row: string }).row) as Row;
  return {
    get: async (feed, id) => {
      const found = get.get(feed, id);
      return found === undefined || found === null ? undefined : parsed(found);
    },
    put: async (row) => void put.run(row.feed, row.id, row.place ?? null, JSON.stringify(row)),
    delete: async (feed, id) => void remove.run(feed, id),
    rows: async (feed, after, limit) => rows.all(feed, after, limit).map(parsed),
    pending: async (after, limit) => pending.all(after, limit).map(parsed),
    readMeta: async (key) => {
      const found = readMeta.get(key) as { value: string } | undefined | null;
      return found ? JSON.parse(found.value) : undefined;
    },
    writeMeta: async (key, value) =>
      void (value === undefined ? removeMeta.run(key) : writeMeta.run(key, JSON.stringify(value))),
  };
}
