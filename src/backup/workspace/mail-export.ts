import pg from 'pg';
import { MAIL_SCHEMA } from '../../mail-service/mail-service.schema.js';
import { appliedMigrations, columnList, OWN_SCHEMAS, qualified, type Table } from '../database/catalog.js';
import type { SchemaBackup, TableObject } from '../store/manifest.js';
import { listFiles, type NeededFiles } from '../store/copy-files.js';
import { type Export, exportTable } from './transferred-tables.js';

const { escapeLiteral: literal } = pg;

/** Tables with mail of users: the SQL condition of the rows, with `:users`. The tables have the order of an import. */
export const MAIL_ROWS: Readonly<Record<string, string>> = {
  users: 'id = ANY (:users)',
  mailboxes: 'user_id = ANY (:users)',
  messages: 'user_id = ANY (:users)',
  thread_keys: 'user_id = ANY (:users)',
  calendar_parts: 'user_id = ANY (:users)',
};

/** Columns of a table without identity and generated ones. */
const COLUMNS = `
SELECT array_agg(attname::text ORDER BY attnum) AS columns FROM pg_attribute
 WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''`;

/** The account of a member at the mail service, without its credentials. */
export const MAIL_ACCOUNT: Table = {
  name: 'mail_accounts',
  columns: ['tenant_id', 'user_id', 'username', 'address', 'mail_user_id', 'token_version', 'created_at'],
};

/**
 * Copies the mail of members at the embedded mail service. Undelivered messages stay in the queue of the installation, which
 * delivers them.
 * @returns undefined when no member has mail there
 */
export async function exportMail(
  work: Export,
  scratch: string,
): Promise<{ rows: SchemaBackup; files: NeededFiles } | undefined> {
  const { cell, directory, tenantId } = work;
  const migrations = await directory.read((client) => appliedMigrations(client, MAIL_SCHEMA));
  if (migrations.length === 0) return undefined;
  const users = await usersOf(work);
  if (users.length === 0) return undefined;
  const ids = `${literal(`{${users.join()}}`)}::text[]`;
  const objects: TableObject[] = [];
  for (const [name, condition] of Object.entries(MAIL_ROWS)) {
    const table = qualified(MAIL_SCHEMA, name);
    const { rows } = await directory.read((client) => client.query<{ columns: string[] }>(COLUMNS, [table]));
    const { columns } = rows[0]!;
    const values = columns.map((column) => (name === 'users' && column === 'password' ? 'NULL' : column));
    const source = `(SELECT ${values.join(', ')} FROM ${table} WHERE ${condition.replaceAll(':users', ids)})`;
    objects.push(await exportTable(work, directory, MAIL_SCHEMA, { table: { name, columns }, source }));
  }
  const accounts = `(SELECT ${columnList(MAIL_ACCOUNT.columns)} FROM mail_accounts
    WHERE tenant_id = ${literal(tenantId)} AND mail_user_id = ANY (${ids}))`;
  objects.push(await exportTable(work, cell, MAIL_SCHEMA, { table: MAIL_ACCOUNT, source: accounts }));
  const { files } = OWN_SCHEMAS.find(({ name }) => name === MAIL_SCHEMA)!;
  const sql = `SELECT raw_id AS id FROM mail_service.messages WHERE user_id = ANY (${ids}) GROUP BY raw_id ORDER BY raw_id COLLATE "C"`;
  return {
    rows: { name: MAIL_SCHEMA, migrations, tables: objects, sequences: [] },
    files: await listFiles(directory, null, { ...files, sql }, scratch),
  };
}

/** Ids of the members' users at the embedded mail service. */
async function usersOf({ cell, directory, tenantId }: Export): Promise<string[]> {
  const accounts = await cell.read((client) =>
    client.query<{ ids: string[] }>(
      `SELECT coalesce(array_agg(mail_user_id), '{}') AS ids FROM mail_accounts
        WHERE tenant_id = $1 AND origin = 'created' AND mail_user_id IS NOT NULL`,
      [tenantId],
    ),
  );
  const users = await directory.read((client) =>
    client.query<{ id: string }>('SELECT id FROM mail_service.users WHERE id = ANY ($1)', [
      accounts.rows[0]!.ids,
    ]),
  );
  return users.rows.map(({ id }) => id);
}
