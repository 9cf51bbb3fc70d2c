import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Config } from '../../config/config.js';
import { MAIL_SCHEMA } from '../../mail-service/mail-service.schema.js';
import type { MailApi } from '../../modules/mail/index.js';
import { hashRandomPassword } from '../../platform/secrets/password-hash.js';
import { columnList, qualified } from '../database/catalog.js';
import { stopCollectors } from '../database/snapshots.js';
import { BackupError, type Report } from '../reporting.js';
import { restoreFiles } from '../restore-files.js';
import type { BackupStore } from '../store/backup-store.js';
import type { FileSet, Manifest, StoredObject } from '../store/manifest.js';
import { type Import, loadRows, loadTemporary, partNamed } from './imported-rows.js';
import { MAIL_ACCOUNT, MAIL_ROWS } from './mail-export.js';

const FILES = 1_000;
const CLAIM_PAUSE_MS = 500;

/**
 * Statements that write and release the rows by which collectors know files of a kind. Values: the workspace and ids of files.
 * `reserve` leaves out files that a collector has claimed.
 */
interface Reservation {
  client: pg.Client;
  reserve: string;
  release: string;
}

const BLOBS = {
  reserve: `INSERT INTO blobs (tenant_id, id, due_at) SELECT $1::uuid, id, now() + interval '1 day' FROM unnest($2::uuid[]) AS given (id)
            ON CONFLICT (tenant_id, id) DO UPDATE SET state = 'pending', due_at = excluded.due_at
             WHERE blobs.state <> 'released' OR blobs.due_at <= now()`,
  release: `UPDATE blobs SET due_at = now() WHERE tenant_id = $1 AND id = ANY ($2) AND state = 'pending'`,
};

const RAWS = {
  reserve: `INSERT INTO mail_service.raws (id, collect_after)
            SELECT id, now() + interval '1 day' FROM unnest($2::text[]) AS given (id) WHERE $1::uuid IS NOT NULL
            ON CONFLICT (id) DO UPDATE SET collect_after = excluded.collect_after
             WHERE raws.collect_after IS NULL OR raws.collect_after NOT BETWEEN now() AND now() + interval '10 minutes'`,
  release: `UPDATE mail_service.raws SET collect_after = now() WHERE id = ANY ($2) AND $1::uuid IS NOT NULL`,
};

/**
 * The files of an import. They are copied before the rows that refer to them. Until then they are reserved as files without a
 * reference, so that collectors remove the files of an aborted import within a day. No collector works while the import runs.
 */
export class ImportedFiles {
  private readonly kinds: ReadonlyMap<string, Reservation>;

  /** @param cell and directory: connections without an open transaction */
  constructor(
    private readonly store: BackupStore,
    private readonly manifest: Manifest,
    private readonly tenantId: string,
    { cell, directory, withMail }: { cell: pg.Client; directory: pg.Client; withMail: boolean },
  ) {
    this.kinds = new Map([
      ['files', { client: cell, ...BLOBS }],
      ...(withMail ? ([['mail', { client: directory, ...RAWS }]] as const) : []),
    ]);
  }

  /** @returns their number @throws BackupError for a file that is missing or damaged in the export */
  async copy(config: Config, report: Report): Promise<number> {
    for (const [set, kind] of this.sets()) {
      await stopCollectors(kind.client);
      await this.each(set, (ids) => this.reserve(kind, ids));
    }
    const sets = this.sets().map(([set]) => set);
    const { files, faults } = await restoreFiles(config, this.store, sets, report);
    if (faults.length > 0) {
      const list = faults.slice(0, 10).map(({ name, reason }) => `${name} is ${reason}`);
      throw new BackupError(`Files of the export are missing or damaged: ${list.join('; ')}.`);
    }
    return files;
  }

  /** Removes the reservations in the transaction that writes the rows. Raw messages keep theirs: their collector checks references. */
  async claim(): Promise<void> {
    const { client } = this.kinds.get('files') as Reservation;
    await client.query(`DELETE FROM blobs WHERE tenant_id = $1 AND state = 'pending'`, [this.tenantId]);
  }

  /** Makes the files due for the collectors. */
  async release(): Promise<void> {
    for (const [set, { client, release }] of this.sets())
      await this.each(set, (ids) => client.query(release, [this.tenantId, ids]));
  }

  private sets(): [FileSet, Reservation][] {
    return this.manifest.files.flatMap((set) => {
      const kind = this.kinds.get(set.kind);
      return kind ? [[set, kind] as [FileSet, Reservation]] : [];
    });
  }

  /** Waits for the end of claims: a collector may be removing files of an earlier, aborted import. */
  private async reserve({ client, reserve }: Reservation, ids: readonly string[]): Promise<void> {
    while ((await client.query(reserve, [this.tenantId, ids])).rowCount !== ids.length)
      await delay(CLAIM_PAUSE_MS);
  }

  private async each({ index }: FileSet, work: (ids: string[]) => Promise<unknown>): Promise<void> {
    let ids: string[] = [];
    const flush = async (): Promise<void> => {
      if (ids.length > 0) await work(ids);
      ids = [];
    };
    for await (const { name } of this.store.readLines<StoredObject>(index)) {
      ids.push(name.slice(name.lastIndexOf('/') + 1));
      if (ids.length >= FILES) await flush();
    }
    await flush();
  }
}

/** Whether the export has mail of the embedded mail service. */
export const hasMail = ({ schemas }: Manifest): boolean => schemas.some(({ name }) => name === MAIL_SCHEMA);

const ACCOUNTS = 500;
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
  for (let n = 0; n < accounts.length; n += ACCOUNTS) {
    const batch = accounts.slice(n, n + ACCOUNTS).map((account) => ({
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
