import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import { AccountRecovery, SecurityErrors, sessionState } from '../../account-security/index.js';
import { CredentialsApi, IdentityApi, SessionsApi } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { AccessErrors } from '../access.dto.js';
import { Authority, assertHolds } from '../authority.js';
import { TenantMembersRepository } from './tenant-members.repository.js';
import type {
  MemberSessionListEnvelope,
  MemberSessionsEnded,
  SecondFactorResetEnvelope,
} from './tenant-members.dto.js';
import { SecondFactorReset } from '../access.schema.js';

const APPROVAL_MS = 86_400_000;

/** Sessions and second factors of members, for administrators. */
@Injectable()
export class MemberRecoveryService {
  constructor(
    private readonly members: TenantMembersRepository,
    private readonly authority: Authority,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly credentials: CredentialsApi,
    private readonly accounts: AccountRecovery,
    private readonly live: SessionsApi,
    private readonly audit: Audit,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 404; 403 `cannot_grant_unheld` */
  async sessions(ctx: RequestContext, userId: string): Promise<MemberSessionListEnvelope> {
    if (!(await this.members.read(ctx.tenantId, userId))) throw AccessErrors.tenantMemberNotFound.with();
    assertHolds(
      await this.authority.permissionsOf(ctx),
      await this.authority.permissionsOf({ tenantId: ctx.tenantId, userId }),
    );
    const rows = await this.live.liveIn(userId, ctx.tenantId);
    const sessions = rows.map((row) => {
      const { current: _, ...session } = sessionState(row, null);
      return session;
    });
    return { sessions, next: null };
  }

  /** @param sessionId null: all @throws ApiError 404 for the member or the session; 403 `cannot_grant_unheld` */
  async endSessions(
    ctx: RequestContext,
    userId: string,
    sessionId: string | null,
  ): Promise<MemberSessionsEnded> {
    const { tenantId } = ctx;
    const ended = await this.db.tx(async (tx) => {
      await this.manageable(tx, ctx, userId);
      const count = await this.live.endIn(tx, userId, tenantId, sessionId);
      if (sessionId !== null && count === 0) throw AccessErrors.sessionNotFound.with();
      const data = { sessions_ended: count, ...(sessionId !== null && { session_id: sessionId }) };
      const entry = { action: 'user.sessions.ended', objectKind: 'user', objectId: userId, data };
      await this.audit.record(tx, ctx, entry);
      return count;
    });
    await this.live.refreshNow();
    return { sessions_ended: ended };
  }

  /**
   * Removes the second factor of a member. For an owner, another member has to repeat the first request.
   * @throws ApiError 404; 403 `forbidden` for the caller, `cannot_grant_unheld`; 409 `second_factor_not_enabled`,
   * `member_of_other_workspaces`, `managed_externally`
   */
  async resetSecondFactor(ctx: RequestContext, userId: string): Promise<SecondFactorResetEnvelope> {
    if (this.config.OIDC_ISSUER) throw SecurityErrors.managedExternally.with();
    if (userId === ctx.userId) throw Errors.forbidden.with();
    const state = await this.db.tx(async (tx) => {
      const isOwner = (await this.manageable(tx, ctx, userId, { ownersByTwo: true })) === 'owner';
      await this.identity.lockAccount(tx, userId);
      const memberships = await this.tenants.membershipsOf(userId, tx);
      if (memberships.some((each) => each.tenant_id !== ctx.tenantId && each.status === 'active'))
        throw AccessErrors.memberOfOtherWorkspaces.with();
      const account = await this.credentials.byId(userId, tx);
      if (account?.second_factor_since == null) throw SecurityErrors.notEnabled.with();
      const first = isOwner ? await this.firstRequest(tx, ctx, userId) : null;
      if (first) return { state: 'approval_required' as const, ...first };
      await rowsOf(tx, SecondFactorReset).delete({ tenant_id: ctx.tenantId, user_id: userId });
      await this.accounts.removeSecondFactorBy(tx, userId, ctx);
      return { state: 'removed' as const, requested_by: null, expires_at: null };
    });
    await this.live.refreshNow();
    return { second_factor_reset: state };
  }

  /** Two-person rule. @returns the request that waits for another member; null when this caller approves it */
  private async firstRequest(tx: Tx, ctx: RequestContext, userId: string) {
    const { tenantId } = ctx;
    const rows = rowsOf(tx, SecondFactorReset);
    const pending = await rows.lock({ tenant_id: tenantId, user_id: userId });
    const isPending = pending !== null && pending.expires_at.getTime() > Date.now();
    if (isPending && pending.requested_by !== ctx.userId) {
      const { requested_by } = pending;
      // Read from the database, since the role of the token may be five seconds old.
      const caller = await this.members.read(tenantId, ctx.userId, tx);
      const requester = await this.members.read(tenantId, requested_by, tx);
      const mayRequest = (await this.authority.inTx(tx, tenantId, requested_by)).has('users.recover');
      if (mayRequest && (caller?.role === 'owner' || requester?.role === 'owner')) return null;
      if (mayRequest) throw AccessErrors.cannotGrantUnheld.with({ body: { permissions: ['owners.manage'] } });
    }
    const expiresAt = new Date(Date.now() + APPROVAL_MS);
    await rows.store(['tenant_id', 'user_id'], {
      tenant_id: tenantId,
      user_id: userId,
      requested_by: ctx.userId,
      expires_at: expiresAt,
    });
    await this.audit.record(tx, ctx, {
      action: 'user.second_factor_reset.requested',
      objectKind: 'user',
      objectId: userId,
    });
    return { requested_by: ctx.userId, expires_at: expiresAt.toISOString() };
  }

  /** Locks the groups. @returns the role of a member whose permissions the caller holds */
  private async manageable(
    tx: Tx,
    ctx: RequestContext,
    userId: string,
    { ownersByTwo = false } = {},
  ): Promise<string> {
    const held = await this.authority.begin(tx, ctx, 'users.recover');
    const member = await this.members.read(ctx.tenantId, userId, tx);
    if (!member) throw AccessErrors.tenantMemberNotFound.with();
    if (!ownersByTwo || member.role !== 'owner')
      assertHolds(held, await this.authority.inTx(tx, ctx.tenantId, userId, { includeDeactivated: true }));
    return member.role;
  }
}
