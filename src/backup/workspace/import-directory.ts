import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { BackupError } from '../backup-error.js';
import { columnList } from '../database/catalog.js';
import { type Import, loadTemporary, partNamed } from './imported-rows.js';
import { DIRECTORY_PART, DIRECTORY_ROWS } from './transferred-tables.js';

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
