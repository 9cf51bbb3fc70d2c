import { Cells } from '../../platform/cells/cells.js';
import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import {
  ERASED_MEMBER_JOINING,
  MEMBER_EMAIL_CHANGED,
  MEMBERS_PROVISIONED,
  MEMBER_ROLES_SET,
  MEMBERSHIP_CHANGING,
  TENANT_PROVISIONED,
} from './tenants.hooks.js';
import { TenantDomains } from './domains/tenant-domains.js';
import { TenantErrors } from './tenants.errors.js';
import {
  type EndedMembers,
  type EndedMembership,
  type ErasurePolicy,
  type MemberStatus,
  MembershipStatusRepository,
} from './membership-status.repository.js';
import {
  type MemberInput,
  type MemberRole,
  TenantsRepository,
  type Workspace,
} from './tenants.repository.js';

/** Operations on workspaces and their members for other modules. */
@Injectable()
export class TenantsApi {
  constructor(
    private readonly tenants: TenantsRepository,
    private readonly statuses: MembershipStatusRepository,
    private readonly domains: TenantDomains,
    private readonly hooks: TxHooks,
    private readonly cells: Cells,
  ) {}

  /** The role of an active member, else null. */
  async activeRole(tenantId: string, userId: string, reader?: Reader): Promise<TenantRole | null> {
    return (await this.tenants.membership(tenantId, userId, reader))?.role ?? null;
  }

  /** Role and start of an active membership, else null. */
  async membership(tenantId: string, userId: string): Promise<{ role: TenantRole; since: Date } | null> {
    const found = await this.tenants.membership(tenantId, userId);
    return found && { role: found.role, since: found.created_at };
  }

  /** Workspaces with an active membership of the user, by name; at most 500. */
  async workspacesOf(userId: string): Promise<Workspace[]> {
    return this.tenants.workspacesOf(userId);
  }

  /** The name of a workspace; null for an unknown one. */
  async nameOf(tenantId: string): Promise<string | null> {
    return this.tenants.nameOf(tenantId);
  }

  /** Ids of workspaces with an active membership of the user, the oldest membership first. */
  async tenantIdsOf(userId: string, limit: number): Promise<string[]> {
    return this.tenants.tenantIdsOf(userId, limit);
  }

  /** The workspace with the oldest membership of the user, for events about the account; null without one. */
  async anyTenantOf(reader: Reader, userId: string): Promise<string | null> {
    return this.tenants.anyTenantOf(reader, userId);
  }

  /** Address and name of an active member in the workspace, else null. */
  async profile(tenantId: string, userId: string): Promise<{ email: string; displayName: string } | null> {
    const found = await this.tenants.profile(tenantId, userId);
    return found && { email: found.email, displayName: found.display_name };
  }

  /** The status of a membership; null: the user may join, because there is none or its data were erased. */
  async memberStatus(tx: Tx, tenantId: string, userId: string): Promise<MemberStatus | null> {
    return this.statuses.status(tx, tenantId, userId);
  }

  /** The address of a member, also of a deactivated one; null without a membership and after an erasure. */
  async addressOf(tenantId: string, userId: string): Promise<string | null> {
    return this.tenants.addressOf(tenantId, userId);
  }

  /** Whether the member is a service account. */
  async isService(tenantId: string, userId: string): Promise<boolean> {
    return this.tenants.isService(tenantId, userId);
  }

  /**
   * Finds members of the workspace, deactivated ones included: a deactivated member may stay in lists. For additions use
   * `findActiveMembers`, `inactiveMembers` or the SQL function `inactive_members`.
   * @param names user ids and e-mail addresses
   * @returns user id by name, without names that match no member
   */
  async findMembers(tenantId: string, names: string[], reader?: Reader): Promise<Map<string, string>> {
    const isId = Map.groupBy(names, isUuid);
    const [ids, emails] = [isId.get(true) ?? [], isId.get(false) ?? []];
    return this.tenants.findMembers(tenantId, ids, emails, reader);
  }

  /**
   * Finds members of the workspace who can be added to something.
   * @param names user ids and e-mail addresses @param present ids of members who may stay although they are deactivated
   * @returns user id by name, without names that match no member or a deactivated one
   */
  async findActiveMembers(
    reader: Reader,
    tenantId: string,
    names: string[],
    present: readonly string[] = [],
  ): Promise<Map<string, string>> {
    const known = await this.findMembers(tenantId, names, reader);
    const inactive = await this.inactiveMembers(reader, tenantId, [...known.values()], present);
    return new Map([...known].filter(([, id]) => !inactive.includes(id)));
  }

  /** The deactivated members among `userIds`, without those in `present`: they may stay in a list, but cannot be added. */
  async inactiveMembers(
    reader: Reader,
    tenantId: string,
    userIds: readonly string[],
    present: readonly string[] = [],
  ): Promise<string[]> {
    return this.tenants.findInactive(reader, tenantId, userIds, present);
  }

  async idBySlug(slug: string): Promise<string | null> {
    return this.tenants.idBySlug(slug);
  }

  /** Accepts the slug or the id: the tenant claim of external issuers may hold either. */
  async idOfName(name: string): Promise<string | null> {
    return this.tenants.idOfName(name);
  }

  /**
   * Creates or renames the workspace with this slug and adds verified domains.
   * @returns its id @throws ApiError 409 `domain_taken`
   */
  async provision(
    tx: Tx,
    tenant: { id: string; slug: string; name: string | null; domains: string[] },
  ): Promise<string> {
    const id = await this.tenants.upsert(tx, tenant);
    if (id === tenant.id) await this.cells.place(tx, id);
    await this.domains.provision(tx, id, tenant.domains);
    await this.hooks.run(tx, TENANT_PROVISIONED, { tenantId: id });
    return id;
  }

  /** @param slug which no other workspace has */
  async setSlug(tx: Tx, tenantId: string, slug: string): Promise<void> {
    await this.tenants.setSlug(tx, tenantId, slug);
  }

  /**
   * Adds members, or updates them. A former member whose data were erased becomes a new one, a deactivated one stays deactivated.
   * @returns members whose role changed: the caller invalidates their cached access
   * @throws ApiError 409 `member_erased` while an erasure runs
   */
  async provisionMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<string[]> {
    const ids = members.map(({ userId }) => userId);
    await this.cells.addAccounts(tx, tenantId, ids);
    for (const userId of await this.statuses.restoreErased(tx, tenantId, ids))
      await this.hooks.run(tx, ERASED_MEMBER_JOINING, { tenantId, userId });
    const changed = await this.tenants.upsertMembers(tx, tenantId, members);
    const withRole = members.flatMap(({ userId, role }) => (role === null ? [] : [{ userId, role }]));
    if (withRole.length > 0) await this.hooks.run(tx, MEMBER_ROLES_SET, { tenantId, members: withRole });
    // A service has no mailbox and no card in the address book.
    const users = members.filter(({ isService }) => !isService);
    const userIds = users.map(({ userId }) => userId);
    if (userIds.length > 0) await this.hooks.run(tx, MEMBERS_PROVISIONED, { tenantId, userIds });
    return changed;
  }

  /** Sets the roles that follow from groups. @returns members whose role changed */
  async setRoles(tx: Tx, tenantId: string, members: readonly MemberRole[]): Promise<string[]> {
    return this.tenants.setRoles(tx, tenantId, members);
  }

  /** Changes the display name of a member. */
  async renameMember(tx: Tx, tenantId: string, userId: string, displayName: string): Promise<void> {
    await this.tenants.rename(tx, tenantId, userId, displayName);
  }

  /** Writes the address of an account to all its memberships, one transaction for each workspace. Idempotent. */
  async setEmail(userId: string, email: string): Promise<void> {
    for (const tenantId of await this.tenants.withOtherEmail(userId, email))
      await this.tenants.setEmail(tenantId, userId, email, async (tx) => {
        await this.hooks.run(tx, MEMBERS_PROVISIONED, { tenantId, userIds: [userId] });
        await this.hooks.run(tx, MEMBER_EMAIL_CHANGED, { tenantId, userId });
      });
  }

  /** Whether the user is an active member of any workspace. */
  async hasMembership(tx: Tx, userId: string): Promise<boolean> {
    return this.tenants.hasMembership(tx, userId);
  }

  /**
   * Deactivates or activates a membership.
   * @returns false without a membership
   * @throws ApiError 409 `member_erased`; errors of MEMBERSHIP_CHANGING handlers, e.g. ApiError 409 `last_admin`
   */
  async setMemberStatus(tx: Tx, userId: string, tenantId: string, status: MemberStatus): Promise<boolean> {
    await this.hooks.run(tx, MEMBERSHIP_CHANGING, { userId, tenantId, status });
    const isSet = await this.statuses.set(tx, userId, tenantId, status);
    if (!isSet && (await this.statuses.isErased(tx, tenantId, userId)))
      throw TenantErrors.memberErased.with();
    return isSet;
  }

  /**
   * Deactivates all memberships of a user with the account.
   * @returns their workspaces @throws errors of MEMBERSHIP_CHANGING handlers, e.g. ApiError 409 `last_admin`
   */
  async endMemberships(tx: Tx, userId: string): Promise<string[]> {
    await this.hooks.run(tx, MEMBERSHIP_CHANGING, { userId, tenantId: null, status: 'deactivated' });
    return this.statuses.endAll(tx, userId);
  }

  /** Activates the memberships that ended with the account; those that ended separately stay deactivated. @returns their workspaces */
  async restoreMemberships(tx: Tx, userId: string): Promise<string[]> {
    const ended = await this.statuses.endedWithAccount(tx, userId);
    for (const tenantId of ended) await this.setMemberStatus(tx, userId, tenantId, 'active');
    return ended;
  }

  /**
   * Former members of workspaces in this cell whose time after the end of the membership has passed and whose data are not erased.
   * Services have no personal data.
   */
  async endedMembers(policies: readonly ErasurePolicy[]): Promise<EndedMembers[]> {
    return this.statuses.endedMembers(policies);
  }

  /** All memberships of a user, also ended and erased ones. */
  async membershipsOf(userId: string, reader?: Reader): Promise<EndedMembership[]> {
    return this.statuses.memberships(userId, reader);
  }

  /** Marks an ended membership as erased: it cannot be activated again. @returns its address; null: it is active */
  async beginErasure(tx: Tx, tenantId: string, userId: string): Promise<string | null> {
    return this.statuses.beginErasure(tx, tenantId, userId);
  }

  /** Whether the user has a membership whose data are not erased. */
  async hasUnerasedMembership(tx: Tx, userId: string): Promise<boolean> {
    return this.statuses.hasUnerased(tx, userId);
  }
}
