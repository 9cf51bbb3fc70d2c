import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { MAIL_SCHEMA } from '../../mail-service/mail-service.schema.js';
import type { Config } from '../../config/config.js';
import { BackupError } from '../backup-error.js';
import { stopCollectors } from '../database/connection.js';
import type { Report } from '../progress.js';
import { restoreFiles } from '../restore-files.js';
import type { BackupStore } from '../store/backup-store.js';
import type { FileSet, Manifest, StoredObject } from '../store/manifest.js';

const BATCH = 1_000;
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
      if (ids.length >= BATCH) await flush();
    }
    await flush();
  }
}

/** Whether the export has mail of the embedded mail service. */
export const hasMail = ({ schemas }: Manifest): boolean => schemas.some(({ name }) => name === MAIL_SCHEMA);
