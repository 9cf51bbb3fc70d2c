import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Errors } from '../../../platform/http/errors.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { MemberContent, type MemberStatus } from '../../tenants/index.js';
import { AccessErrors } from '../access.errors.js';
import { Authority, assertHolds } from '../authority.js';
import { MemberStatusChanges } from './member-status.js';
import type { ListTenantMembers } from './tenant-members.dto.js';
import { TenantMembersRepository } from './tenant-members.repository.js';
import type {
  TenantMemberEnvelope,
  TenantMemberListEnvelope,
  TenantMemberResponse,
  MemberContentEnvelope,
  TransferredContentEnvelope,
} from './tenant-members.response.js';

/** Members of a workspace: list, deactivate, activate. */
@Injectable()
export class TenantMembersService {
  constructor(
    private readonly members: TenantMembersRepository,
    private readonly authority: Authority,
    private readonly statuses: MemberStatusChanges,
    private readonly content: MemberContent,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListTenantMembers): Promise<TenantMemberListEnvelope> {
    const { status, kind = 'user' } = query;
    const isService = kind === 'all' ? undefined : kind === 'service';
    const { rows, next } = await this.cursors.page(query, {
      scope: `members ${ctx.tenantId} ${status ?? ''} ${kind}`,
      key: ({ user_id }: TenantMemberResponse): [string] => [user_id],
      rows: (after, limit) => this.members.list(ctx.tenantId, { status, isService }, after, limit),
    });
    return { members: rows, next };
  }

  /**
   * Deactivates or activates a member. The caller must hold all permissions of the member. Members leave a workspace by
   * their profile, which requires the password.
   * @throws ApiError 404; 403 `forbidden` for the caller, `cannot_grant_unheld`; 409 `last_admin`, `account_closed`
   */
  async setStatus(ctx: RequestContext, userId: string, status: MemberStatus): Promise<TenantMemberEnvelope> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      const held = await this.authority.begin(tx, ctx, 'users.deactivate');
      const before = await this.members.read(tenantId, userId, tx);
      if (!before) throw AccessErrors.tenantMemberNotFound.with();
      if (userId === ctx.userId) throw Errors.forbidden.with();
      assertHolds(held, await this.authority.inTx(tx, tenantId, userId, { includeDeactivated: true }));
      await this.statuses.set(tx, ctx, before, status);
      return { member: { ...before, status } };
    });
  }

  /** Number of objects that a member owns, by kind. @throws ApiError 404 */
  async readContent(ctx: RequestContext, userId: string): Promise<MemberContentEnvelope> {
    const { tenantId } = ctx;
    if (!(await this.members.read(tenantId, userId))) throw AccessErrors.tenantMemberNotFound.with();
    return { content: await this.content.count(this.db, { tenantId, userId }) };
  }

  /**
   * Transfers everything that a deactivated member owns to an active member. The caller must hold all permissions of the
   * deactivated member.
   * @throws ApiError 404 for either member; 403 `cannot_grant_unheld`; 409 `member_active`
   */
  async transfer(ctx: RequestContext, from: string, to: string): Promise<TransferredContentEnvelope> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      const held = await this.authority.begin(tx, ctx, 'users.transfer');
      const [owner, recipient] = [
        await this.members.read(tenantId, from, tx),
        await this.members.read(tenantId, to, tx),
      ];
      if (!owner) throw AccessErrors.tenantMemberNotFound.with();
      if (owner.status === 'active') throw AccessErrors.memberActive.with();
      if (recipient?.status !== 'active') throw AccessErrors.memberNotFound.with();
      assertHolds(held, await this.authority.inTx(tx, tenantId, from, { includeDeactivated: true }));
      const transferred = await this.content.transfer(tx, { ctx, from, to });
      await this.audit.record(tx, ctx, {
        action: 'user.content.transferred',
        objectKind: 'user',
        objectId: from,
        data: { to, ...transferred },
      });
      return { transferred };
    });
  }
}
