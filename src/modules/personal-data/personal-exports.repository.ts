import { Injectable } from '@nestjs/common';
import type { ObjectLiteral } from 'typeorm';
import type { StoredBlob } from '../../platform/blobs/blobs.js';
import { Db } from '../../platform/database/db.js';
import { type ColumnValues, NOW, rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { DataOwner } from '../../platform/personal-data/personal-data.js';
import { type ExportState, PersonalExport } from './personal-data.schema.js';

/** An export that this process runs. */
export interface ClaimedExport extends DataOwner {
  id: string;
  leaseId: string;
  /** Including this one. */
  attempts: number;
}

const remove = workspace.statement<Pick<PersonalExport, 'tenant_id' | 'blob_id'>>(
  'personal_exports.remove',
  `DELETE FROM personal_exports WHERE tenant_id = $1 AND user_id = $2 RETURNING tenant_id, blob_id`,
);

// Across workspaces: the account is closed. Index: personal_exports_user.
const removeEverywhere = workspace.statement<Pick<PersonalExport, 'tenant_id' | 'blob_id'>>(
  'personal_exports.remove_everywhere',
  `DELETE FROM personal_exports WHERE user_id = $1 RETURNING tenant_id, blob_id`,
  { reach: 'account' },
);

// Index: personal_exports_due.
const claim = workspace.statement<Pick<PersonalExport, 'tenant_id' | 'user_id' | 'id' | 'attempts'>>(
  'personal_exports.claim',
  `UPDATE personal_exports
      SET state = 'running', lease_id = $1, due_at = now() + make_interval(secs => $2), attempts = attempts + 1, sources_done = 0
    WHERE (tenant_id, user_id) IN (
      SELECT tenant_id, user_id FROM personal_exports WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING tenant_id, user_id, id, attempts`,
  { reach: 'cell' },
);

const expire = workspace.statement<Pick<PersonalExport, 'tenant_id'> & { blob_id: string }>(
  'personal_exports.expire',
  `DELETE FROM personal_exports WHERE expires_at <= now() RETURNING tenant_id, blob_id`,
  { reach: 'cell' },
);

/** Ends the lease. */
const ENDED = { lease_id: null, due_at: null } as const;
const AFTER_SECONDS = () => 'now() + make_interval(secs => :seconds)';

/** SQL of exports. */
@Injectable()
export class PersonalExportsRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: DataOwner, reader: Reader = this.db): Promise<PersonalExport | null> {
    return rowsOf(reader, PersonalExport).one({ tenant_id: tenantId, user_id: userId });
  }

  /** Locks the export of the member. @returns its state; undefined without one */
  async lock(tx: Tx, { tenantId, userId }: DataOwner): Promise<ExportState | undefined> {
    return (await rowsOf(tx, PersonalExport).lock({ tenant_id: tenantId, user_id: userId }))?.state;
  }

  /** @returns false when another request has inserted an export */
  async insert(tx: Tx, { tenantId, userId }: DataOwner, id: string, sources: number): Promise<boolean> {
    const values = {
      tenant_id: tenantId,
      user_id: userId,
      id,
      state: 'pending',
      sources_total: sources,
      due_at: () => 'now()',
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
  async renew(run: ClaimedExport, seconds: number, sourcesDone: number): Promise<boolean> {
    return this.db.tx((tx) =>
      this.write(tx, run, { due_at: AFTER_SECONDS, sources_done: sourcesDone }, { seconds }),
    );
  }

  /** @returns false when this process has lost the export */
  async finish(
    tx: Tx,
    run: ClaimedExport,
    { id: blobId, size, sha256 }: StoredBlob,
    { omitted, keptDays }: { omitted: number; keptDays: number },
  ): Promise<boolean> {
    const file = { blob_id: blobId, size: String(size), sha256, omitted };
    const times = { finished_at: NOW, expires_at: () => 'now() + make_interval(days => :keptDays)' };
    const values = {
      ...ENDED,
      ...file,
      ...times,
      state: 'done',
      sources_done: () => 'sources_total',
    } as const;
    return this.write(tx, run, values, { keptDays });
  }

  /** Releases the export. It starts again after `seconds`. */
  async postpone(run: ClaimedExport, seconds: number): Promise<void> {
    const values = { ...ENDED, state: 'pending', due_at: AFTER_SECONDS } as const;
    await this.db.tx((tx) => this.write(tx, run, values, { seconds }));
  }

  /** Releases the export for another process, without counting this attempt. */
  async release(run: ClaimedExport): Promise<void> {
    const values = { ...ENDED, state: 'pending', due_at: NOW, attempts: () => 'attempts - 1' } as const;
    await this.db.tx((tx) => this.write(tx, run, values));
  }

  /** @returns false when this process has lost the export */
  async fail(tx: Tx, run: ClaimedExport): Promise<boolean> {
    return this.write(tx, run, { ...ENDED, state: 'failed', finished_at: NOW });
  }

  /** Deletes expired exports. @returns the archives to release */
  async expire(tx: Tx): Promise<{ tenant_id: string; blob_id: string }[]> {
    return tx.query(expire, []);
  }

  /** Writes an export of which this process holds the lease. @returns false when it has lost the lease */
  private async write(
    tx: Tx,
    { tenantId, userId, id, leaseId }: ClaimedExport,
    values: ColumnValues<PersonalExport>,
    parameters?: ObjectLiteral,
  ): Promise<boolean> {
    const held = { tenant_id: tenantId, user_id: userId, id, lease_id: leaseId, state: 'running' } as const;
    return (await rowsOf(tx, PersonalExport).update(held, values, parameters)).length > 0;
  }
}
