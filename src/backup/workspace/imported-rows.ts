import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { v7 as uuidv7 } from 'uuid';
import { columnList } from '../database/catalog.js';
import { BackupError, type Report } from '../reporting.js';
import type { BackupStore } from '../store/backup-store.js';
import type { ExportedWorkspace, Manifest, SchemaBackup, TableObject } from '../store/manifest.js';
import { DIRECTORY_PART, DIRECTORY_ROWS } from './transferred-tables.js';

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

const { escapeIdentifier: quoted } = pg;

/** Accounts of an import. */
export interface ImportedAccounts {
  /** Ids of accounts that are new here. */
  created: string[];
  /** Ids of accounts that exist here with the id or the address of an exported one. */
  matched: string[];
  /** Number of new accounts without a password, because their second factor or passkey is not exported: users set a new one. */
  without_password: number;
}

/** @throws BackupError when the installation has the workspace, or another one with this slug */
export async function rejectExisting(directory: pg.Client, id: string, slug: string): Promise<void> {
  const { rows } = await directory.query<{ id: string }>(
    'SELECT id FROM tenants WHERE id = $1 OR slug = $2',
    [id, slug],
  );
  if (rows.some((row) => row.id === id))
    throw new BackupError('The installation has this workspace already.');
  if (rows.length > 0)
    throw new BackupError(`The installation has another workspace "${slug}": pass another --slug.`);
}

/**
 * An exported account matches the account with its id, unless another exported one has the address of that account, or else the
 * account with its address. So no two exported accounts match the same one.
 */
const MATCHES = `
SELECT imported.id, coalesce(same.id, named.id) AS found,
       EXISTS (SELECT FROM accounts WHERE accounts.id = imported.id) AS id_taken,
       imported.password_hash IS NULL AND imported.second_factor_since IS NOT NULL AS lacks_password
  FROM imported_accounts AS imported
  LEFT JOIN accounts AS same ON same.id = imported.id AND NOT EXISTS (
    SELECT FROM imported_accounts AS other WHERE other.email_key = same.email_key AND other.id <> imported.id)
  LEFT JOIN accounts AS named ON named.email_key = imported.email_key`;

interface Match {
  id: string;
  /** The account of the installation; null: the exported one is new here. */
  found: string | null;
  /** An account of another user has the id here. */
  id_taken: boolean;
  lacks_password: boolean;
}

/** Compares the exported accounts with those of the installation, and fills `work.ids`. */
export async function matchAccounts(work: Import): Promise<ImportedAccounts> {
  const object = objectOf(work, 'accounts');
  const { directory, ids } = work;
  await loadTemporary(work, directory, object);
  const { rows } = await directory.query<Match>(MATCHES);
  const created = rows.filter(({ found }) => found === null);
  for (const { id, found } of rows) if (found !== null && found !== id) ids.set(id, found);
  for (const { id } of created.filter((each) => each.id_taken)) {
    ids.set(id, uuidv7());
    await directory.query('UPDATE imported_accounts SET id = $2 WHERE id = $1', [id, ids.get(id)]);
  }
  return {
    created: created.map(({ id }) => ids.get(id) ?? id),
    matched: rows.flatMap(({ found }) => found ?? []),
    without_password: created.filter(({ lacks_password: lacks }) => lacks).length,
  };
}

/** Domains that another workspace of this installation has verified become unverified: their users sign in there. */
const RELEASE_DOMAINS = `
UPDATE imported_tenant_domains AS imported SET verified_at = NULL
 WHERE EXISTS (SELECT FROM tenant_domains AS own WHERE own.domain = imported.domain AND own.verified_at IS NOT NULL)`;

/**
 * Writes the rows of the directory.
 * @param created ids of the new accounts
 * @param slug of the workspace in this installation
 */
export async function importDirectory(work: Import, created: readonly string[], slug: string): Promise<void> {
  const { directory } = work;
  for (const name of Object.keys(DIRECTORY_ROWS)) {
    const object = objectOf(work, name);
    const table = name === 'accounts' ? 'imported_accounts' : await loadTemporary(work, directory, object);
    if (name === 'accounts')
      await directory.query(
        `WITH matched AS (DELETE FROM ${table} WHERE id <> ALL ($1)) UPDATE ${table} SET second_factor_since = NULL WHERE id = ANY ($1)`,
        [created],
      );
    if (name === 'tenants') await directory.query(`UPDATE ${table} SET slug = $1`, [slug]);
    if (name === 'tenant_domains') await directory.query(RELEASE_DOMAINS);
    const columns = columnList(object.columns);
    await directory.query(`INSERT INTO ${quoted(name)} (${columns}) SELECT ${columns} FROM ${table}`);
  }
}

function objectOf({ manifest }: Import, table: string) {
  const object = partNamed(manifest, DIRECTORY_PART).tables.find((each) => each.table === table);
  if (!object) throw new BackupError(`The export has no table ${table}.`);
  return object;
}
