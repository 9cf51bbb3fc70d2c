import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BackupError } from '../backup-error.js';
import { columnList } from '../database/catalog.js';
import type { Report } from '../progress.js';
import type { BackupStore } from '../store/backup-store.js';
import type { ExportedWorkspace, Manifest, SchemaBackup, TableObject } from '../store/manifest.js';

/** A running import. */
export interface Import {
  readonly store: BackupStore;
  readonly manifest: Manifest;
  readonly workspace: ExportedWorkspace;
  /** Connections with an open transaction: to the database of the workspace, and to that of the directory. */
  readonly cell: pg.Client;
  readonly directory: pg.Client;
  /** Ids of accounts in this installation by their ids in the export, where they differ. */
  readonly ids: Map<string, string>;
  readonly report: Report;
}

/** The tables of a part. @throws BackupError when the export lacks it */
export function partNamed({ schemas }: Manifest, name: string): SchemaBackup {
  const part = schemas.find((schema) => schema.name === name);
  if (!part) throw new BackupError(`The export has no part ${name}.`);
  return part;
}

/** Loads the rows of an exported table. @param into another table with these columns */
export async function loadRows(
  { store, ids, report }: Pick<Import, 'store' | 'ids' | 'report'>,
  client: pg.Client,
  object: TableObject,
  into = pg.escapeIdentifier(object.table),
): Promise<void> {
  const rows = client.query(copyFrom(`COPY ${into} (${columnList(object.columns)}) FROM STDIN`));
  const content = store.readCompressed(object);
  await pipeline(ids.size === 0 ? content : withReplacedIds(content, ids), rows);
  if (rows.rowCount !== object.rows)
    throw new BackupError(`The table ${object.table} has ${rows.rowCount} rows instead of ${object.rows}.`);
  await report({ phase: 'table', name: object.table, amount: object.rows });
}

/** Loads the rows of an exported table into a temporary table, which the end of the transaction drops. @returns its name */
export async function loadTemporary(
  work: Pick<Import, 'store' | 'ids' | 'report'>,
  client: pg.Client,
  object: TableObject,
  like = pg.escapeIdentifier(object.table),
): Promise<string> {
  const name = `imported_${object.table}`;
  await client.query(`CREATE TEMPORARY TABLE ${name} (LIKE ${like}) ON COMMIT DROP`);
  // Columns that the export does not have are null.
  for (const column of await otherColumns(client, name, object.columns))
    await client.query(`ALTER TABLE ${name} ALTER COLUMN ${pg.escapeIdentifier(column)} DROP NOT NULL`);
  await loadRows(work, client, object, name);
  return name;
}

async function otherColumns(client: pg.Client, table: string, columns: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND attnotnull AND attname <> ALL ($2)`,
    [table, columns],
  );
  return rows.map(({ name }) => name);
}

/** A UUID that is not part of a longer number, in the text of rows. */
const UUID = /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/g;
/** Length of a UUID and of the character after it. */
const LOOKAHEAD = 37;

/**
 * Replaces ids in all values of rows: columns, arrays, JSON and texts, such as mentions. Ids are unique, so no other value contains
 * one. Lengths stay.
 */
export async function* withReplacedIds(
  content: AsyncIterable<Uint8Array>,
  ids: ReadonlyMap<string, string>,
): AsyncGenerator<Uint8Array> {
  /** The text after the last returned piece, and the character before it. */
  let rest = '';
  let before = 0;
  const next = (text: string, limit: number): Buffer => {
    let end = limit;
    const replaced = text.replace(UUID, (id, start: number) => {
      if (start >= limit) return id;
      end = Math.max(end, start + id.length);
      return ids.get(id) ?? id;
    });
    const result = Buffer.from(replaced.slice(before, end), 'latin1');
    before = Math.min(1, end);
    rest = text.slice(end - before);
    return result;
  };
  for await (const chunk of content) {
    // Each byte is a character, so that other bytes stay as they are.
    const text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    if (text.length > LOOKAHEAD + before) yield next(text, text.length - LOOKAHEAD);
    else rest = text;
  }
  yield next(rest, rest.length);
}
