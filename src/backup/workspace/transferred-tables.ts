import type pg from 'pg';
import { appliedMigrations, currentSchema, type Table } from '../database/catalog.js';
import { copyRows } from '../database/export-tables.js';
import type { Snapshot } from '../database/snapshots.js';
import type { Report } from '../reporting.js';
import type { BackupStore } from '../store/backup-store.js';
import type { TableObject } from '../store/manifest.js';

/** Parts of an export, in the place of the schemas of a backup. */
export const WORKSPACE_PART = 'workspace';
export const DIRECTORY_PART = 'directory';

const OF_THE_INSTALLATION = 'state of the installation';
const OF_ACCOUNTS = 'sign-in of accounts, which belongs to the installation and its address';

/** Tables that an export does not have, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  access_changes: OF_THE_INSTALLATION,
  account_cells: OF_THE_INSTALLATION,
  account_links: OF_ACCOUNTS,
  account_tokens: OF_ACCOUNTS,
  application_passwords: 'hashed with the key of the installation, and known to its mail service',
  cells: OF_THE_INSTALLATION,
  commit_decisions: OF_THE_INSTALLATION,
  form_response_once:
    'hashed with the key of the installation; written again for responses with a respondent',
  guess_locks: OF_THE_INSTALLATION,
  guest_limits: 'subjects hashed with the key of the installation; they last minutes',
  guest_otps: 'hashed with the key of the installation; they last minutes',
  job_runs: OF_THE_INSTALLATION,
  mail_accounts: 'credentials encrypted for the installation; written again with the mail',
  mail_pending_accounts: 'calls to the mail service of the installation',
  oidc_records: OF_ACCOUNTS,
  passkey_challenges: OF_ACCOUNTS,
  passkeys: OF_ACCOUNTS,
  platform_secrets: OF_THE_INSTALLATION,
  presence_devices: 'connections to the installation',
  push_deliveries: 'messages for subscriptions to the key of the installation',
  push_keys: OF_THE_INSTALLATION,
  push_subscriptions: 'devices that accept the key of the installation only; they subscribe again',
  rate_limits: OF_THE_INSTALLATION,
  recovery_codes: OF_ACCOUNTS,
  second_factors: OF_ACCOUNTS,
  sessions: OF_ACCOUNTS,
  signing_keys: OF_THE_INSTALLATION,
  socket_tokens: 'tokens of sessions, which stay in the installation',
  system_mails: 'encrypted for the installation, which sends them',
  workspace_cells: OF_THE_INSTALLATION,
  workspace_moves: OF_THE_INSTALLATION,
};

/** Tables of the directory with rows of workspaces: the SQL condition of the rows, with `:tenant` and `:accounts`. */
export const DIRECTORY_ROWS: Readonly<Record<string, string>> = {
  accounts: 'id = ANY (:accounts)',
  tenants: 'id = :tenant',
  tenant_domains: 'tenant_id = :tenant',
  tenant_logos: 'tenant_id = :tenant',
  tenant_policies: 'tenant_id = :tenant',
  tenant_issuers: 'tenant_id = :tenant',
  tenant_issuer_links: 'tenant_id = :tenant',
  oidc_clients: 'tenant_id = :tenant OR owner_tenant_id = :tenant',
};

const HAS_FACTOR = `EXISTS (SELECT FROM second_factors factor WHERE factor.account_id = accounts.id AND factor.state = 'active')
  OR EXISTS (SELECT FROM passkeys passkey WHERE passkey.account_id = accounts.id)`;

/**
 * Values that an export has in the place of the stored ones. Second factors and passkeys belong to the installation; without them
 * the password alone would be sufficient for the sign-in, so the user sets a new one.
 */
export const REPLACED_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  accounts: {
    password_hash: `CASE WHEN ${HAS_FACTOR} THEN NULL ELSE password_hash END`,
  },
  tenant_issuers: { client_secret: 'NULL', is_enabled: 'false' },
};

/** A running export. */
export interface Export {
  readonly store: BackupStore;
  /** The id of its snapshot in the store. */
  readonly id: string;
  readonly tenantId: string;
  /** The database of the workspace. */
  readonly cell: Snapshot;
  /** The database of the directory and of the mail service; the same object unless the workspace is in another cell. */
  readonly directory: Snapshot;
  readonly report: Report;
}

/** Copies rows of one table of an export. @param rows see `copyRows` */
export async function exportTable(
  { store, id, report }: Export,
  snapshot: Snapshot,
  part: string,
  rows: { table: Table; source: string },
): Promise<TableObject> {
  return copyRows(snapshot, store, id, { schema: part, ...rows }, report);
}

/** Names of the migrations in the schema that the connection uses. */
export async function currentMigrations(client: pg.Client): Promise<string[]> {
  return appliedMigrations(client, await currentSchema(client));
}
