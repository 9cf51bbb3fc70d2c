import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../platform/audit/audit.js';
import { Blobs } from '../../platform/blobs/blobs.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { ContentReply } from '../../platform/http/replies/content-reply.js';
import { PersonalData } from '../../platform/personal-data/personal-data.js';
import { type ConfirmOwner, OwnerCheck } from '../account-security/index.js';
import { PersonalDataErrors } from './personal-data.errors.js';
import type { PersonalExport } from './personal-export.entity.js';
import type { PersonalExportEnvelope, PersonalExportResponse } from './personal-export.response.js';
import { PersonalExportsRepository } from './personal-exports.repository.js';
import { PersonalExportWorker } from './personal-export.worker.js';

/** Exports of members, for their owners. */
@Injectable()
export class PersonalExportsService {
  constructor(
    private readonly exports: PersonalExportsRepository,
    private readonly worker: PersonalExportWorker,
    private readonly data: PersonalData,
    private readonly owners: OwnerCheck,
    private readonly blobs: Blobs,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 409 `export_running`; errors of `OwnerCheck` */
  async start(ctx: RequestContext, proof: ConfirmOwner): Promise<PersonalExportEnvelope> {
    await this.owners.assert(ctx, proof);
    const started = this.db.tx(async (tx) => {
      const state = await this.exports.lock(tx, ctx);
      if (state === 'pending' || state === 'running') throw PersonalDataErrors.exportRunning.with();
      // Removes only a locked export: without one, another request may have inserted an export meanwhile.
      if (state !== undefined) await this.remove(tx, ctx);
      const id = uuidv7();
      if (!(await this.exports.insert(tx, ctx, id, this.data.sources.length)))
        throw PersonalDataErrors.exportRunning.with();
      const entry = { action: 'personal_data.export_requested', objectKind: 'user', objectId: ctx.userId };
      await this.audit.record(tx, ctx, { ...entry, data: { export_id: id } });
      return this.exports.read(ctx, tx);
    });
    // Also after a rejection: the worker skips a pending export while this request locks it.
    const row = await started.finally(() => this.worker.wake());
    return { export: row ? present(row) : null };
  }

  async read(ctx: RequestContext): Promise<PersonalExportEnvelope> {
    const row = await this.exports.read(ctx);
    return { export: row ? present(row) : null };
  }

  /** @throws ApiError 404 */
  async download(ctx: RequestContext): Promise<ContentReply> {
    const { tenantId, userId } = ctx;
    const row = await this.exports.read(ctx);
    if (!row?.blob_id || !row.sha256) throw PersonalDataErrors.exportNotFound.with();
    const { blob_id, sha256, size } = row;
    const data = { export_id: row.id };
    const entry = { action: 'personal_data.export_downloaded', objectKind: 'user', objectId: userId, data };
    await this.db.tx((tx) => this.audit.record(tx, ctx, entry));
    return new ContentReply({
      name: `personal-data-${row.requested_at.toISOString().slice(0, 10)}.zip`,
      contentType: 'application/zip',
      size: Number(size),
      sha256: sha256.toString('hex'),
      open: (range) => this.blobs.open(tenantId, blob_id, range),
    });
  }

  /** Removes the export of a member. @param owner tenantId null: in all workspaces */
  async remove(tx: Tx, owner: { tenantId: string | null; userId: string }): Promise<void> {
    await this.blobs.release(tx, await this.exports.remove(tx, owner));
  }
}

function present(row: PersonalExport): PersonalExportResponse {
  return {
    id: row.id,
    state: row.state,
    progress: { done: row.sources_done, total: row.sources_total },
    requested_at: row.requested_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    size: row.size === null ? null : Number(row.size),
    omitted_files: row.omitted,
  };
}
