import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { migrateMailService } from '../../mail-service/mail-service.js';
import { MAIL_SCHEMA } from '../../mail-service/mail-service.schema.js';
import { RespondentKeys } from '../../modules/forms/index.js';
import { IdentityApi } from '../../modules/identity/index.js';
import { MailApi } from '../../modules/mail/index.js';
import { Audit, operator } from '../../platform/audit/audit.js';
import { CellsRepository } from '../../platform/cells/cells.repository.js';
import { isConnectionError, mayHaveCommitted } from '../../platform/database/database-errors.js';
import { MAIN } from '../../platform/database/db.js';
import { asTx, replicate } from '../../platform/database/long-session.js';
import { gidOf } from '../../platform/database/spanning-tx.js';
import { BackupError, type Report } from '../reporting.js';
import { appliedMigrations, productVersion } from '../database/catalog.js';
import { BackupStore } from '../store/backup-store.js';
import { type ExportedWorkspace, type Manifest, tableCounts } from '../store/manifest.js';
import { rejectFaults } from '../verify-backup.js';
import { currentMigrations, DIRECTORY_PART, WORKSPACE_PART } from './transferred-tables.js';
import {
  type Import,
  importDirectory,
  type ImportedAccounts,
  loadRows,
  matchAccounts,
  partNamed,
  rejectExisting,
} from './imported-rows.js';
import { hasMail, ImportedFiles, importMail } from './import-contents.js';
import type { Installation } from './installation.js';

/** Class of the advisory locks of imports. */
const IMPORT_LOCK = 7_706_115;

export interface ImportOptions {
  /** See `BackupStore.open`. */
  from: string;
  /** Id of a snapshot; default: the newest complete one. */
  snapshot?: string;
  /** Slug here; default: the exported one. */
  slug?: string;
  /** Cell of the workspace; default: the open one with the fewest workspaces. */
  cell?: string;
}

export interface ImportSummary {
  id: string;
  slug: string;
  cell: string;
  snapshot: string;
  taken_at: string;
  rows: number;
  files: number;
  accounts: { created: number; matched: number; without_password: number };
  /** Null means that the export has no mail, or that this installation has another mail service. */
  mail: { users: number; taken: string[] } | null;
}

/**
 * Adds an exported workspace to an installation, while servers run. Ids stay, except those of accounts that match an account of
 * the installation, and of new accounts whose id another account has. All rows commit at once; an aborted import leaves only
 * files, which collectors remove.
 *
 * @throws BackupError for a backup, a damaged export or one of another version, and when the workspace or its slug exists
 */
export async function importWorkspace(
  installation: Installation,
  options: ImportOptions,
  report: Report,
): Promise<ImportSummary> {
  const store = await BackupStore.open(options.from);
  const clients: pg.Client[] = [];
  try {
    const manifest = await store.manifest(options.snapshot);
    const { workspace } = manifest;
    if (!workspace) throw new BackupError('This is the backup of an installation: use workspace restore.');
    const withMail = hasMail(manifest) && installation.hasEmbeddedMail;
    const { db, cells, config } = installation;
    if (withMail) await migrateMailService(config, installation.databaseUrl);
    const cellName = options.cell ?? (await openCell(installation));
    if (!db.cells.includes(cellName)) throw new BackupError(`There is no cell "${cellName}".`);
    const open = async (): Promise<pg.Client> => {
      const client = await installation.open(await cells.cell(cellName));
      clients.push(client);
      return client;
    };
    const cell = await open();
    const directory = cellName === MAIN ? cell : await installation.open(db.main);
    if (directory !== cell) clients.push(directory);
    const slug = options.slug ?? workspace.slug;
    await lock(directory, workspace);
    await rejectExisting(directory, workspace.id, slug);
    await rejectOtherVersion(manifest, { cell, directory, withMail });
    await rejectFaults(store, manifest, report);
    const files = new ImportedFiles(store, manifest, workspace.id, { cell, directory, withMail });
    for (const client of clients) await setReplicaRole(client);
    let keepsFiles = false;
    try {
      const copied = await files.copy(config, report);
      const work = { store, manifest, workspace, cell, directory, ids: new Map<string, string>(), report };
      const result = await importRows(installation, work, files, { slug, cellName, withMail });
      await commit(work, installation.app.get(CellsRepository), cellName, () => (keepsFiles = true));
      return {
        id: workspace.id,
        slug,
        cell: cellName,
        snapshot: manifest.snapshot,
        taken_at: manifest.takenAt,
        files: copied,
        ...result,
      };
    } catch (error) {
      // The rows may have committed. If not, or without a connection, the collectors remove the files within a day.
      if (keepsFiles || isConnectionError(error)) throw error;
      for (const client of clients) await client.query('ROLLBACK');
      await files.release();
      throw error;
    }
  } finally {
    for (const client of clients) await client.end();
    store.close();
  }
}

type Imported = Pick<ImportSummary, 'rows' | 'accounts' | 'mail'>;

/** Loads all rows. */
async function importRows(
  installation: Installation,
  work: Import,
  files: ImportedFiles,
  { slug, cellName, withMail }: { slug: string; cellName: string; withMail: boolean },
): Promise<Imported> {
  const { app } = installation;
  const { cell, directory, manifest, workspace } = work;
  for (const client of new Set([cell, directory])) await client.query('BEGIN');
  const accounts = await matchAccounts(work);
  await files.claim();
  for (const object of partNamed(manifest, WORKSPACE_PART).tables) await loadRows(work, cell, object);
  const tx = asTx(cell, directory);
  if (work.ids.size > 0) await sortDirectKeys(work);
  await app.get(RespondentKeys).restore(tx, workspace.id);
  const mail = withMail ? await importMail(work, app.get(MailApi)) : null;
  await importDirectory(work, accounts.created, slug);
  const repository = app.get(CellsRepository);
  await repository.placeIn(tx, workspace.id, cellName);
  if (cellName !== MAIN)
    await repository.addAccounts(tx, [...accounts.created, ...accounts.matched].toSorted(), cellName);
  await recordImport(installation, work, accounts);
  const { created, matched, without_password } = accounts;
  return {
    rows: tableCounts(manifest).rows,
    accounts: { created: created.length, matched: matched.length, without_password },
    mail,
  };
}

/**
 * Commits the rows. If there are two databases, the directory decides, as in `SpanningTx`. If the process ends before the commit of the
 * cell, `UnfinishedCommits` completes it.
 * @param keepFiles called when the rows are committed, or when this is unknown because the response was lost
 */
async function commit(
  { cell, directory }: Import,
  repository: CellsRepository,
  cellName: string,
  keepFiles: () => void,
): Promise<void> {
  const id = uuidv7();
  const gid = gidOf(cellName, id);
  const isSpread = cell !== directory;
  if (isSpread) await cell.query(`PREPARE TRANSACTION '${gid}'`);
  let isDecided = false;
  try {
    if (isSpread) await repository.decide(asTx(directory), id);
    isDecided = true;
    await directory.query('COMMIT');
  } catch (error) {
    if (mayHaveCommitted(isDecided, error)) keepFiles();
    else if (isSpread) await cell.query(`ROLLBACK PREPARED '${gid}'`);
    throw error;
  }
  keepFiles();
  if (isSpread) await cell.query(`COMMIT PREPARED '${gid}'`);
}

/** The key of a direct room has the ids of its members in ascending order, which replaced ids may change. */
async function sortDirectKeys({ cell, workspace }: Import): Promise<void> {
  await cell.query(
    `UPDATE chat_rooms SET direct_key = least(split_part(direct_key, ' ', 1)::uuid, split_part(direct_key, ' ', 2)::uuid)
                             || ' ' || greatest(split_part(direct_key, ' ', 1)::uuid, split_part(direct_key, ' ', 2)::uuid)
      WHERE tenant_id = $1 AND direct_key IS NOT NULL`,
    [workspace.id],
  );
}

async function recordImport({ app }: Installation, work: Import, accounts: ImportedAccounts): Promise<void> {
  const { cell, directory, workspace, manifest } = work;
  const tx = asTx(cell, directory);
  const identity = app.get(IdentityApi);
  for (const account of accounts.matched) await identity.recordAccessChange(tx, account, workspace.id);
  await app.get(Audit).record(tx, operator(workspace.id), {
    action: 'tenant.imported',
    objectKind: 'tenant',
    objectId: workspace.id,
    data: {
      installation: manifest.installation,
      snapshot: manifest.snapshot,
      accounts_created: accounts.created.length,
      accounts_matched: accounts.matched.length,
    },
  });
}

async function openCell({ app }: Installation): Promise<string> {
  const cells = await app.get(CellsRepository).list();
  const [cell] = cells
    .filter(({ state }) => state === 'open')
    .toSorted((a, b) => a.workspaces - b.workspaces || a.name.localeCompare(b.name));
  if (!cell) throw new BackupError('No cell takes new workspaces: run `workspace cell list`.');
  return cell.name;
}

async function lock(directory: pg.Client, { id }: ExportedWorkspace): Promise<void> {
  const { rows } = await directory.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked',
    [IMPORT_LOCK, id],
  );
  if (!rows[0]?.locked) throw new BackupError('Another import of this workspace is running.');
}

async function setReplicaRole(client: pg.Client): Promise<void> {
  try {
    await replicate(client);
  } catch (cause) {
    throw new BackupError(
      'The role of the database may not copy rows as they are: GRANT SET ON PARAMETER session_replication_role to it.',
      { cause },
    );
  }
}

/** @throws BackupError unless the tables are those of the export */
async function rejectOtherVersion(
  manifest: Manifest,
  { cell, directory, withMail }: { cell: pg.Client; directory: pg.Client; withMail: boolean },
): Promise<void> {
  const compare = (part: string, applied: readonly string[]): void => {
    const exported = partNamed(manifest, part).migrations;
    if (exported.toSorted().join() !== applied.toSorted().join())
      throw new BackupError(
        `The export was made by version ${manifest.version} with other tables than those of this version ${productVersion()}. Install the same version in both installations.`,
      );
  };
  compare(WORKSPACE_PART, await currentMigrations(cell));
  compare(DIRECTORY_PART, await currentMigrations(directory));
  if (withMail) compare(MAIL_SCHEMA, await appliedMigrations(directory, MAIL_SCHEMA));
}
