import { Injectable } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { BlobKey } from './store/blob-store.js';

@Entity('blobs')
@Index('blobs_due', ['due_at'], { where: 'due_at IS NOT NULL' })
export class BlobRecord {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') state!: 'pending' | 'kept' | 'released';
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('text', { nullable: true }) content_type!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  @Column('uuid', { nullable: true }) user_id!: string | null;
}

/** Advisory lock that running backups, exports and imports of workspaces hold, shared, in each of their databases. */
export const BACKUP_LOCK = { classId: 7_706_114, objectId: 1 } as const;

/** Advisory lock that the one running backup of an installation holds in the database of the directory. */
export const ONLY_BACKUP_LOCK = { classId: 7_706_114, objectId: 2 } as const;

/**
 * SQL condition of collectors: no backup runs, nor an import. A backup reads the rows first and copies the files after that, so files
 * that its rows refer to must stay. It takes the lock before its snapshot: a blob that was released earlier is not in the backup. An
 * import copies files before the rows that refer to them.
 */
export const NO_BACKUP_RUNS = `NOT EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${BACKUP_LOCK.classId} AND objid = ${BACKUP_LOCK.objectId}
     AND objsubid = 2 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/** The blobs that rows refer to, in the order of their names in the store. */
export const keptBlobs = workspace.statement<
  Pick<BlobRecord, 'tenant_id' | 'id'> & { size: string; sha256: string }
>(
  'blobs.kept',
  `SELECT tenant_id, id, size::text, encode(sha256, 'hex') AS sha256 FROM blobs WHERE state = 'kept' ORDER BY tenant_id, id`,
  { reach: 'cell' },
);

const insert = workspace.statement<never>(
  'blobs.insert',
  `INSERT INTO blobs (tenant_id, id, user_id) VALUES ($1, $2, $3)`,
);

const keep = workspace.statement<{ kept: boolean }>(
  'blobs.keep',
  `SELECT blob_keep($1, $2, $3, $4, $5) AS kept`,
);

const renew = workspace.statement<never>(
  'blobs.renew',
  `UPDATE blobs SET due_at = now() + interval '1 hour' WHERE tenant_id = $1 AND id = $2 AND state = 'pending'`,
);

const release = workspace.statement<never>('blobs.release', `SELECT blob_release($1, $2)`);

const releaseAll = workspace.statement<never>(
  'blobs.release_all',
  `SELECT blob_release($1, ARRAY(SELECT id FROM blobs WHERE tenant_id = $1 AND state = 'kept'))`,
);

const forget = workspace.statement<never>(
  'blobs.forget',
  `DELETE FROM blobs WHERE tenant_id = $1 AND id = $2 AND state <> 'kept'`,
);

const abandon = workspace.statement<Pick<BlobRecord, 'id'>>(
  'blobs.abandon',
  `UPDATE blobs SET state = 'released', due_at = now() WHERE tenant_id = $1 AND id = $2 AND state = 'pending' RETURNING id`,
);

// A claim is a lease: after its end another collector can claim the blob. A claimed pending blob can no longer be kept.
const claim = workspace.statement<Pick<BlobRecord, 'tenant_id' | 'id'>>(
  'blobs.claim',
  `UPDATE blobs SET state = 'released', due_at = now() + make_interval(secs => $2)
    WHERE (tenant_id, id) IN (
      SELECT tenant_id, id FROM blobs WHERE due_at <= now() AND ${NO_BACKUP_RUNS}
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
   RETURNING tenant_id, id`,
  { reach: 'cell' },
);

/** The SQL of blobs and their states. */
@Injectable()
export class BlobsRepository {
  constructor(private readonly db: Db) {}

  /** @param userId the uploader; null: no user */
  async insert({ tenantId, id }: BlobKey, userId: string | null): Promise<void> {
    await this.db.single((tx) => tx.query(insert, [tenantId, id, userId]));
  }

  /** Keeps a pending blob from the collector for another hour. */
  async renew({ tenantId, id }: BlobKey): Promise<void> {
    await this.db.single((tx) => tx.query(renew, [tenantId, id]));
  }

  /** @returns false when the blob is no longer pending */
  async keep(
    tx: Tx,
    { tenantId, id }: BlobKey,
    facts: { size: number; sha256: Buffer; contentType: string },
  ): Promise<boolean> {
    const values = [tenantId, id, facts.size, facts.sha256, facts.contentType];
    return (await tx.query(keep, values))[0]?.kept ?? false;
  }

  async release(tx: Tx, tenantId: string, ids: readonly string[]): Promise<void> {
    await tx.query(release, [tenantId, ids]);
  }

  async releaseAll(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(releaseAll, [tenantId]);
  }

  /** Marks a blob that will not be kept. @returns false when it is kept already */
  async abandon({ tenantId, id }: BlobKey): Promise<boolean> {
    return (await this.db.single((tx) => tx.query(abandon, [tenantId, id]))).length > 0;
  }

  /** Deletes the row of an unreferenced blob. */
  async forget({ tenantId, id }: BlobKey): Promise<void> {
    await this.db.single((tx) => tx.query(forget, [tenantId, id]));
  }

  /** Claims blobs that are due, for `leaseSeconds`. */
  async claim(limit: number, leaseSeconds: number): Promise<BlobKey[]> {
    const rows = await this.db.single((tx) => tx.query(claim, [limit, leaseSeconds]));
    return rows.map((row) => ({ tenantId: row.tenant_id, id: row.id }));
  }
}
