import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../platform/audit/audit.js';
import { Blobs } from '../../platform/blobs/blobs.js';
import { ApiDownload } from '../../platform/blobs/download-docs.js';
import { DOWNLOAD_ERRORS } from '../../platform/blobs/file-errors.dto.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { ContentReply } from '../../platform/http/replies/content-reply.js';
import {
  type ErasedMember,
  PersonalData,
  PersonalDataSource,
} from '../../platform/personal-data/personal-data.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import { ConfirmOwner, OWNER_CHECK_ERRORS, OwnerCheck, PASSWORD_LIMIT } from '../account-security/index.js';
import type { PersonalExport } from './personal-data.schema.js';
import {
  PersonalDataErrors,
  PersonalExportEnvelope,
  type PersonalExportResponse,
} from './personal-export.response.js';
import { PersonalExportWorker } from './personal-export.worker.js';
import { PersonalExportsRepository } from './personal-exports.repository.js';

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
    // The worker wakes also after a rejection: it skips a pending export while this request locks it.
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

/** The stored export of a user. It is not part of a new export. */
@Injectable()
export class ExportPersonalData extends PersonalDataSource {
  constructor(
    data: PersonalData,
    private readonly exports: PersonalExportsService,
  ) {
    super(data, { name: 'exports' });
  }

  override async erase(member: ErasedMember, db: Db): Promise<void> {
    await db.tx((tx) => this.exports.remove(tx, member));
  }
}

/** An export reads all data of the user. */
const EXPORT_LIMIT: RouteLimit = {
  scope: 'personal-export',
  by: 'account',
  requests: 20,
  perSeconds: 86_400,
};

@ApiTags('settings')
@Controller('settings/export')
export class PersonalExportController {
  constructor(private readonly exports: PersonalExportsService) {}

  @Endpoint('POST', {
    id: 'startExport',
    summary: 'Export your data',
    description:
      'Starts an export of your data in this workspace and of your account: one ZIP archive with JSON, iCalendar, vCard and your files. It replaces the previous export. Requires your password if the account has one; an account with neither a password nor a second factor needs a sign-in of the last ten minutes.',
    status: 202,
    response: [PersonalExportEnvelope, 'The export has started.'],
    errors: [PersonalDataErrors.exportRunning, ...OWNER_CHECK_ERRORS],
  })
  @RateLimited(PASSWORD_LIMIT, EXPORT_LIMIT)
  start(@Ctx() ctx: RequestContext, @Body() body: ConfirmOwner): Promise<PersonalExportEnvelope> {
    return this.exports.start(ctx, body);
  }

  @Endpoint('GET', {
    id: 'readExport',
    summary: 'Read the state of your export',
    description:
      'State and progress of the latest export, or null without one. Poll it until `state` is final, then download the file.',
    response: [PersonalExportEnvelope, 'The latest export.'],
  })
  read(@Ctx() ctx: RequestContext): Promise<PersonalExportEnvelope> {
    return this.exports.read(ctx);
  }

  @Endpoint('GET file', {
    id: 'downloadExport',
    summary: 'Download your export',
    description: 'The finished archive, for seven days. `Range` for a part of it.',
    errors: [PersonalDataErrors.exportNotFound, Errors.badRequest, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The archive.')
  download(@Ctx() ctx: RequestContext): Promise<ContentReply> {
    return this.exports.download(ctx);
  }
}
