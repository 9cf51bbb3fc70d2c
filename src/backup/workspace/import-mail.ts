import { randomBytes } from 'node:crypto';
import { hashRandomPassword } from '../../platform/secrets/password-hash.js';
import { MAIL_SCHEMA } from '../../mail-service/mail-service.schema.js';
import type { MailApi } from '../../modules/mail/index.js';
import { columnList, qualified } from '../database/catalog.js';
import { type Import, loadTemporary, loadRows, partNamed } from './imported-rows.js';
import { MAIL_ACCOUNT, MAIL_ROWS } from './mail-export.js';

const BATCH = 500;
const USERS = 'imported_users';

/** Mail of an import. */
export interface ImportedMail {
  users: number;
  /** Addresses that the mail service of this installation has already. The mail of these users is not imported. */
  taken: string[];
}

interface MailAccount {
  tenant_id: string;
  user_id: string;
  mail_user_id: string;
}

/** Removes the exported users whose ids, names or addresses exist here. */
const REMOVE_TAKEN = `
DELETE FROM ${USERS} AS imported USING mail_service.users AS own
 WHERE own.address = imported.address OR own.username = imported.username OR own.id = imported.id
RETURNING imported.address`;

const ADD_ACCOUNTS = `
INSERT INTO mail_accounts (tenant_id, user_id, origin, username, address, mail_user_id, token_version, created_at, password)
SELECT tenant_id, user_id, 'created', username, address, mail_user_id, token_version + 1, created_at, password
  FROM jsonb_to_recordset($1) AS given (tenant_id uuid, user_id uuid, username text, address text, mail_user_id text,
                                        token_version int, created_at timestamptz, password text)`;

/** Loads the mail of the members. Their users get new passwords, which only the two services know. */
export async function importMail(work: Import, mail: MailApi): Promise<ImportedMail> {
  const { directory, cell, manifest, workspace } = work;
  const { tables } = partNamed(manifest, MAIL_SCHEMA);
  const objectOf = (name: string) => tables.find(({ table }) => table === name)!;
  const users = qualified(MAIL_SCHEMA, 'users');
  await loadTemporary(work, directory, objectOf('users'), users);
  const { rows: taken } = await directory.query<{ address: string }>(REMOVE_TAKEN);
  await loadTemporary(work, directory, objectOf(MAIL_ACCOUNT.name), MAIL_ACCOUNT.name);
  const { rows: accounts } = await directory.query<MailAccount>(
    `SELECT account.* FROM imported_mail_accounts AS account WHERE mail_user_id IN (SELECT id FROM ${USERS})`,
  );
  for (let n = 0; n < accounts.length; n += BATCH) {
    const batch = accounts.slice(n, n + BATCH).map((account) => ({
      account,
      password: randomBytes(24).toString('base64url'),
    }));
    const hashes = await Promise.all(batch.map(({ password }) => hashRandomPassword(password)));
    await directory.query(
      `UPDATE ${USERS} AS imported SET password = given.hash
         FROM unnest($1::text[], $2::text[]) AS given (id, hash) WHERE given.id = imported.id`,
      [batch.map(({ account }) => account.mail_user_id), hashes],
    );
    const rows = batch.map(({ account, password }) => {
      const owner = { tenantId: account.tenant_id, userId: account.user_id };
      return { ...account, password: mail.sealedPassword(owner, password) };
    });
    await cell.query(ADD_ACCOUNTS, [JSON.stringify(rows)]);
  }
  await directory.query(`INSERT INTO ${users} SELECT * FROM ${USERS}`);
  for (const name of Object.keys(MAIL_ROWS).filter((each) => each !== 'users')) {
    const object = objectOf(name);
    const table = qualified(MAIL_SCHEMA, name);
    if (taken.length === 0) {
      await loadRows(work, directory, object, table);
      continue;
    }
    // Users here may have the ids of exported ones: the rows of these never reach the table.
    const rows = await loadTemporary(work, directory, object, table);
    const columns = columnList(object.columns);
    await directory.query(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${rows} WHERE user_id IN (SELECT id FROM ${USERS})`,
    );
  }
  for (const table of ['mail_calendar_scans', 'mail_arrival_scans'])
    await cell.query(
      `DELETE FROM ${table} AS scan WHERE tenant_id = $1 AND NOT EXISTS (
         SELECT FROM mail_accounts AS account WHERE account.tenant_id = $1 AND account.user_id = scan.user_id)`,
      [workspace.id],
    );
  return { users: accounts.length, taken: taken.map(({ address }) => address) };
}
