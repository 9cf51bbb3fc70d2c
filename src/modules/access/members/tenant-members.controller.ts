import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Audit } from '../../../platform/audit/audit.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { SecurityErrors } from '../../account-security/index.js';
import { MemberContent, type MemberStatus, TenantErrors } from '../../tenants/index.js';
import { AccessErrors } from '../access.dto.js';
import { assertHolds, Authority } from '../authority.js';
import { MemberRecoveryService } from './member-recovery.service.js';
import { MemberStatusChanges } from './member-status.js';
import {
  ListTenantMembers,
  MemberContentEnvelope,
  MemberSessionListEnvelope,
  MemberSessionsEnded,
  SecondFactorResetEnvelope,
  TenantMemberEnvelope,
  TenantMemberListEnvelope,
  type TenantMemberResponse,
  TransferContent,
  TransferredContentEnvelope,
} from './tenant-members.dto.js';
import { TenantMembersRepository } from './tenant-members.repository.js';

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

const STATUS_ERRORS = [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld];

@ApiTags('tenant')
@Controller('tenant/members')
export class TenantMembersController {
  constructor(private readonly members: TenantMembersService) {}

  @Endpoint('GET', {
    id: 'listTenantMembers',
    summary: 'List the members of the workspace, including deactivated ones',
    description: 'Service accounts are not included, unless `kind` requests them.',
    response: [TenantMemberListEnvelope, 'A page of members.'],
  })
  @Requires('tenant.read')
  list(@Ctx() ctx: RequestContext, @Query() query: ListTenantMembers): Promise<TenantMemberListEnvelope> {
    return this.members.list(ctx, query);
  }

  @Endpoint('POST :user_id/deactivate', {
    id: 'deactivateTenantMember',
    summary: 'Deactivate a member',
    description:
      'Ends their sessions in this workspace within 5 seconds. You must hold all permissions of the member. The last active owner cannot be deactivated. To leave the workspace yourself, use `DELETE /settings/profile`.',
    response: [TenantMemberEnvelope, 'The updated member.'],
    errors: [...STATUS_ERRORS, AccessErrors.lastAdmin],
  })
  @Requires('users.deactivate')
  deactivate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'deactivated');
  }

  @Endpoint('POST :user_id/activate', {
    id: 'activateTenantMember',
    summary: 'Activate a member',
    description:
      'Restores the membership with its groups, and reopens an account that its owner closed by leaving. You must hold all permissions of these groups.',
    response: [TenantMemberEnvelope, 'The updated member.'],
    errors: [...STATUS_ERRORS, AccessErrors.accountClosed, TenantErrors.memberErased],
  })
  @Requires('users.deactivate')
  activate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'active');
  }

  @Endpoint('GET :user_id/content', {
    id: 'readTenantMemberContent',
    summary: 'Count the content of a member',
    description:
      'Number of objects that the member owns and that a transfer moves: notes and tasks, including those in the trash, and their folders.',
    response: [MemberContentEnvelope, 'Number of objects by kind.'],
    errors: [AccessErrors.tenantMemberNotFound],
  })
  @Requires('users.transfer')
  readContent(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberContentEnvelope> {
    return this.members.readContent(ctx, userId);
  }

  @Endpoint('POST :user_id/transfer', {
    id: 'transferTenantMemberContent',
    work: 'long',
    summary: 'Transfer the content of a deactivated member',
    description:
      'Makes another active member the owner of all notes and tasks, including those in the trash, and of their folders. Items stay in their folders and shared with the same members; share links end. You must hold all permissions of the deactivated member.',
    response: [TransferredContentEnvelope, 'Number of transferred objects by kind.'],
    errors: [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld, AccessErrors.memberActive],
  })
  @Requires('users.transfer')
  transfer(
    @Ctx() ctx: RequestContext,
    @Id('user_id') userId: string,
    @Body() body: TransferContent,
  ): Promise<TransferredContentEnvelope> {
    return this.members.transfer(ctx, userId, body.to.toLowerCase());
  }
}

const ERRORS = [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld];

@ApiTags('tenant')
@Controller('tenant/members/:user_id')
export class MemberRecoveryController {
  constructor(private readonly recovery: MemberRecoveryService) {}

  @Endpoint('GET sessions', {
    id: 'listMemberSessions',
    summary: 'List the sessions of a member in this workspace',
    description: 'Devices on which the member is signed in to this workspace, without tokens.',
    response: [MemberSessionListEnvelope, 'The sessions.'],
    errors: ERRORS,
  })
  @Requires('users.recover')
  sessions(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberSessionListEnvelope> {
    return this.recovery.sessions(ctx, userId);
  }

  @Endpoint('DELETE sessions', {
    id: 'endMemberSessions',
    summary: 'End all sessions of a member in this workspace',
    description:
      'Their tokens become invalid within five seconds. You must hold all permissions of the member.',
    response: [MemberSessionsEnded, 'Number of ended sessions.'],
    errors: ERRORS,
  })
  @Requires('users.recover')
  endAll(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberSessionsEnded> {
    return this.recovery.endSessions(ctx, userId, null);
  }

  @Endpoint('DELETE sessions/:session_id', {
    id: 'endMemberSession',
    summary: 'End one session of a member in this workspace',
    description:
      'Its tokens become invalid within five seconds. You must hold all permissions of the member.',
    response: [MemberSessionsEnded, 'Number of ended sessions.'],
    errors: [...ERRORS, AccessErrors.sessionNotFound],
  })
  @Requires('users.recover')
  end(
    @Ctx() ctx: RequestContext,
    @Id('user_id') userId: string,
    @Id('session_id') sessionId: string,
  ): Promise<MemberSessionsEnded> {
    return this.recovery.endSessions(ctx, userId, sessionId);
  }

  @Endpoint('POST second-factor/reset', {
    id: 'resetMemberSecondFactor',
    summary: 'Remove the lost second factor of a member',
    description:
      'Ends all sessions of the account, and notifies the member. You must hold all permissions of the member. For an owner, two members must send the request within a day, at least one of them an owner. A member of several workspaces is recovered by the operator.',
    status: 200,
    response: [SecondFactorResetEnvelope, 'The state of the reset.'],
    errors: [
      ...ERRORS,
      AccessErrors.memberOfOtherWorkspaces,
      SecurityErrors.notEnabled,
      SecurityErrors.managedExternally,
    ],
  })
  @Requires('users.recover')
  reset(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<SecondFactorResetEnvelope> {
    return this.recovery.resetSecondFactor(ctx, userId);
  }
}
