import { Injectable } from '@nestjs/common';
import { Audit, type AuditActor, changes } from '../../../platform/audit/audit.js';
import { FileLimits, type OwnLimits, type UserUsageRow } from '../../../platform/blobs/file-limits.js';
import { type FileUsageResponse, usageResponse } from '../../../platform/blobs/file-usage.response.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import type { UpdateFileLimits, UserFileUsageListEnvelope } from './tenant-files.dto.js';

/** Files of a workspace: use and limits. */
@Injectable()
export class TenantFiles {
  constructor(
    private readonly limits: FileLimits,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @param userId null: the operator */
  async usage(tenantId: string, userId: string | null): Promise<FileUsageResponse> {
    return usageResponse(await this.limits.usage(tenantId, userId));
  }

  /** Users with files, most bytes first. */
  async users({ tenantId, userId }: RequestContext, query: PageQuery): Promise<UserFileUsageListEnvelope> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `file_users ${tenantId} ${userId}`,
      key: (row: UserUsageRow): [number, string] => [row.bytes, row.user_id],
      rows: (after, limit) => this.limits.users(tenantId, after, limit),
    });
    return { users: rows.map(({ user_id, bytes, files: count }) => ({ user_id, bytes, count })), next };
  }

  /**
   * Changes the limit of each user. A client may send back the limit that it read: if this is the limit of the deployment, the
   * workspace does not get a limit of its own.
   */
  async update(
    ctx: RequestContext,
    { user_limit_bytes: limit }: UpdateFileLimits,
  ): Promise<FileUsageResponse> {
    const usage = await this.usage(ctx.tenantId, ctx.userId);
    return limit === usage.user_limit_bytes ? usage : this.change(ctx, { user_limit_bytes: limit });
  }

  /** Changes limits; omitted ones stay unchanged. Only the operator changes the limit of the workspace. */
  async change(
    actor: AuditActor & { readonly tenantId: string },
    limits: Partial<OwnLimits>,
  ): Promise<FileUsageResponse> {
    const { tenantId, userId } = actor;
    await this.db.tx(async (tx) => {
      const { before, after } = await this.limits.change(tx, tenantId, limits);
      const data = changes({ ...before }, { ...after });
      if (Object.keys(data.after).length === 0) return;
      await this.audit.record(tx, actor, {
        action: 'tenant.file_limits.updated',
        objectKind: 'tenant',
        objectId: tenantId,
        data,
      });
    });
    return this.usage(tenantId, userId);
  }
}
