import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { NO_BACKUP_RUNS } from './backup-lock.js';
import type { BlobKey } from './store/blob-store.js';

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

const abandon = workspace.statement<{ id: string }>(
  'blobs.abandon',
  `UPDATE blobs SET state = 'released', due_at = now() WHERE tenant_id = $1 AND id = $2 AND state = 'pending' RETURNING id`,
);

// A claim is a lease: after its end another collector can claim the blob. A claimed pending blob can no longer be kept.
const claim = workspace.statement<{ tenant_id: string; id: string }>(
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
