import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { readToken } from '../../../platform/secrets/secret-box.js';
import { TenantDomains, TenantsApi } from '../../tenants/index.js';
import { Authority } from '../authority.js';
import { MemberAdmission, NewMemberGroups } from '../member-admission.js';
import { TenantInvitation } from '../access.schema.js';
import { InvitationsRepository } from './invitations.repository.js';

/** A valid invitation, as its recipient sees it. */
export interface OpenInvitation {
  tenantId: string;
  id: string;
  email: string;
  workspace: string;
  /** Name of the member who invites; null for a link by a verified domain. */
  inviter: string | null;
}

/** The account that accepts an invitation. */
export interface InvitedAccount {
  id: string;
  email: string;
  displayName: string;
}

interface InvitationOrigin {
  ip: string | null;
  requestId: string | null;
}

/** Opens invitations by the token of their link, and makes members of their recipients. */
@Injectable()
export class InvitationAcceptance {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly admission: MemberAdmission,
    private readonly authority: Authority,
    private readonly groups: NewMemberGroups,
    private readonly tenants: TenantsApi,
    private readonly domains: TenantDomains,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @returns null for an unknown, used, revoked or expired token, and when the inviter has lost the permission */
  async find(token: string): Promise<OpenInvitation | null> {
    const { tenantId, hash: tokenHash } = readToken(token);
    const invitation = await rowsOf(this.db, TenantInvitation).one({
      tenant_id: tenantId,
      token_hash: tokenHash,
      state: 'pending',
    });
    const workspace = invitation && (await this.tenants.nameOf(tenantId));
    if (!invitation || workspace === null || !(await this.mayJoin(invitation))) return null;
    const inviter = invitation.invited_by && (await this.tenants.profile(tenantId, invitation.invited_by));
    const { id, email } = invitation;
    return { tenantId, id, email, workspace, inviter: inviter ? inviter.displayName : null };
  }

  /**
   * Makes the account a member with the role and the groups of the invitation. An active member stays as it is, a deactivated one
   * stays deactivated.
   * @returns false when the invitation ended meanwhile, or its inviter no longer holds the permissions
   */
  async accept(
    { tenantId, id }: OpenInvitation,
    account: InvitedAccount,
    origin: InvitationOrigin,
  ): Promise<boolean> {
    const open = await rowsOf(this.db, TenantInvitation).one({ tenant_id: tenantId, id });
    if (!open || !(await this.mayJoin(open))) return false;
    return this.db.tx(async (tx) => {
      // The lock order of all group changes: groups, invitation, members.
      await this.admission.lock(tx, tenantId);
      const invitation = await rowsOf(tx, TenantInvitation).lock({ tenant_id: tenantId, id });
      if (invitation?.state !== 'pending' || !(await this.inviterHoldsPermissions(tx, invitation)))
        return false;
      const status = await this.tenants.memberStatus(tx, tenantId, account.id);
      if (status === 'deactivated') return false;
      if (status === null) await this.join(tx, invitation, account, origin);
      await this.invitations.end(tx, tenantId, id, 'accepted', account.id);
      return true;
    });
  }

  private async join(
    tx: Tx,
    invitation: TenantInvitation,
    account: InvitedAccount,
    origin: InvitationOrigin,
  ): Promise<void> {
    const { tenant_id: tenantId, role, group_ids: groupIds, invited_by: by } = invitation;
    const { id: userId } = account;
    await this.admission.join(tx, tenantId, account, { role, groupIds, by });
    const data = { invitation: invitation.id, invited_by: by, role, groups: groupIds };
    await this.audit.record(
      tx,
      { tenantId, userId, ...origin },
      { action: 'user.joined', objectKind: 'user', objectId: userId, data },
    );
    const payload = { user_id: userId, invited_by: by };
    await this.outbox.append(tx, { tenantId, type: 'member.joined', payload });
  }

  private async mayJoin(invitation: TenantInvitation): Promise<boolean> {
    const { tenant_id, email, invited_by, expires_at } = invitation;
    if (expires_at.getTime() <= Date.now()) return false;
    if (invited_by === null) return (await this.domains.findJoinable(email)) === tenant_id;
    return this.db.tx((tx) => this.inviterHoldsPermissions(tx, invitation));
  }

  /** Whether the inviter still holds the permissions that the invitation gives. */
  private async inviterHoldsPermissions(
    tx: Tx,
    { tenant_id, invited_by, role, group_ids }: TenantInvitation,
  ): Promise<boolean> {
    if (invited_by === null) return true;
    const held = await this.authority.inTx(tx, tenant_id, invited_by);
    if (!held.has('users.invite')) return false;
    const given = await this.groups.permissionsOfExisting(tx, tenant_id, role, group_ids);
    return [...given].every((permission) => held.has(permission));
  }
}
