import { Injectable } from '@nestjs/common';
import type { StoredBlob } from '../../platform/blobs/blobs.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { DataOwner } from '../../platform/personal-data/personal-data.js';
import { type ExportState, PersonalExport } from './personal-export.entity.js';

/** An export that this process runs. */
export interface ClaimedExport extends DataOwner {
  id: string;
  leaseId: string;
  /** Including this one. */
  attempts: number;
}

const remove = workspace.statement<{ tenant_id: string; blob_id: string | null }>(
  'personal_exports.remove',
  `DELETE FROM personal_exports WHERE tenant_id = $1 AND user_id = $2 RETURNING tenant_id, blob_id`,
);

// Across workspaces: the account is closed. Index: personal_exports_user.
const removeEverywhere = workspace.statement<{ tenant_id: string; blob_id: string | null }>(
  'personal_exports.remove_everywhere',
  `DELETE FROM personal_exports WHERE user_id = $1 RETURNING tenant_id, blob_id`,
  { reach: 'account' },
);

// Index: personal_exports_due.
const claim = workspace.statement<{ tenant_id: string; user_id: string; id: string; attempts: number }>(
  'personal_exports.claim',
  `UPDATE personal_exports
      SET state = 'running', lease_id = $1, due_at = now() + make_interval(secs => $2), attempts = attempts + 1, sources_done = 0
    WHERE (tenant_id, user_id) IN (
      SELECT tenant_id, user_id FROM personal_exports WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING tenant_id, user_id, id, attempts`,
  { reach: 'cell' },
);

const HELD = `tenant_id = $1 AND user_id = $2 AND id = $3 AND lease_id = $4 AND state = 'running'`;

const renew = workspace.statement<{ id: string }>(
  'personal_exports.renew',
  `UPDATE personal_exports SET due_at = now() + make_interval(secs => $5), sources_done = $6 WHERE ${HELD} RETURNING id`,
);

const finish = workspace.statement<{ id: string }>(
  'personal_exports.finish',
  `UPDATE personal_exports
      SET state = 'done', blob_id = $5, size = $6, sha256 = $7, omitted = $8, sources_done = sources_total, lease_id = NULL,
          due_at = NULL, finished_at = now(), expires_at = now() + make_interval(days => $9)
    WHERE ${HELD} RETURNING id`,
);

const postpone = workspace.statement<never>(
  'personal_exports.postpone',
  `UPDATE personal_exports SET state = 'pending', lease_id = NULL, due_at = now() + make_interval(secs => $5) WHERE ${HELD}`,
);

const release = workspace.statement<never>(
  'personal_exports.release',
  `UPDATE personal_exports SET state = 'pending', lease_id = NULL, due_at = now(), attempts = attempts - 1 WHERE ${HELD}`,
);

const fail = workspace.statement<{ id: string }>(
  'personal_exports.fail',
  `UPDATE personal_exports SET state = 'failed', lease_id = NULL, due_at = NULL, finished_at = now() WHERE ${HELD} RETURNING id`,
);

const expire = workspace.statement<{ tenant_id: string; blob_id: string }>(
  'personal_exports.expire',
  `DELETE FROM personal_exports WHERE expires_at <= now() RETURNING tenant_id, blob_id`,
  { reach: 'cell' },
);

const keyOf = ({ tenantId, userId, id, leaseId }: ClaimedExport) => [tenantId, userId, id, leaseId];

/** SQL of exports. */
@Injectable()
export class PersonalExportsRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: DataOwner, reader: Reader = this.db): Promise<PersonalExport | null> {
    return rowsOf(reader, PersonalExport).one({ tenantId, userId });
  }

  /** Locks the export of the member. @returns its state; undefined without one */
  async lock(tx: Tx, { tenantId, userId }: DataOwner): Promise<ExportState | undefined> {
    return (await rowsOf(tx, PersonalExport).lock({ tenantId, userId }))?.state;
  }

  /** @returns false when another request has inserted an export */
  async insert(tx: Tx, { tenantId, userId }: DataOwner, id: string, sources: number): Promise<boolean> {
    const values = {
      tenantId,
      userId,
      id,
      state: 'pending',
      sourcesTotal: sources,
      dueAt: () => 'now()',
    } as const;
    return (await rowsOf(tx, PersonalExport).insert(values)) !== null;
  }

  /** @param tenantId null: in all workspaces @returns the workspaces and the archives to release */
  async remove(
    tx: Tx,
    { tenantId, userId }: { tenantId: string | null; userId: string },
  ): Promise<{ tenant_id: string; blob_id: string | null }[]> {
    return tenantId === null ? tx.query(removeEverywhere, [userId]) : tx.query(remove, [tenantId, userId]);
  }

  /** Takes an export that is due, for `leaseSeconds`. */
  async claim(leaseId: string, leaseSeconds: number): Promise<ClaimedExport | undefined> {
    const [row] = await this.db.single((tx) => tx.query(claim, [leaseId, leaseSeconds]));
    return (
      row && { tenantId: row.tenant_id, userId: row.user_id, id: row.id, attempts: row.attempts, leaseId }
    );
  }

  /** Extends the lease and stores the progress. @returns false when this process has lost the export */
  async renew(run: ClaimedExport, leaseSeconds: number, sourcesDone: number): Promise<boolean> {
    const rows = await this.db.single((tx) => tx.query(renew, [...keyOf(run), leaseSeconds, sourcesDone]));
    return rows.length > 0;
  }

  /** @returns false when this process has lost the export */
  async finish(
    tx: Tx,
    run: ClaimedExport,
    file: StoredBlob,
    { omitted, keptDays }: { omitted: number; keptDays: number },
  ): Promise<boolean> {
    const values = [...keyOf(run), file.id, file.size, file.sha256, omitted, keptDays];
    return (await tx.query(finish, values)).length > 0;
  }

  /** Releases the export. It starts again after `seconds`. */
  async postpone(run: ClaimedExport, seconds: number): Promise<void> {
    await this.db.single((tx) => tx.query(postpone, [...keyOf(run), seconds]));
  }

  /** Releases the export for another process, without counting this attempt. */
  async release(run: ClaimedExport): Promise<void> {
    await this.db.single((tx) => tx.query(release, keyOf(run)));
  }

  /** @returns false when this process has lost the export */
  async fail(tx: Tx, run: ClaimedExport): Promise<boolean> {
    return (await tx.query(fail, keyOf(run))).length > 0;
  }

  /** Deletes expired exports. @returns the archives to release */
  async expire(tx: Tx): Promise<{ tenant_id: string; blob_id: string }[]> {
    return tx.query(expire, []);
  }
}
