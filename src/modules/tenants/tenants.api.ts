import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import {
  type MemberInput,
  type MemberStatus,
  TenantsRepository,
  type Workspace,
} from './tenants.repository.js';
import {
  MEMBERS_PROVISIONED,
  MEMBER_ROLES_SET,
  MEMBERSHIP_CHANGING,
  TENANT_PROVISIONED,
} from './tenants.hooks.js';

/** What other domains may ask of workspaces and their members. */
@Injectable()
export class TenantsApi {
  constructor(
    private readonly tenants: TenantsRepository,
    private readonly hooks: TxHooks,
  ) {}

  /** The role of an active member; null for anybody else. */
  async activeRole(tenantId: string, userId: string): Promise<TenantRole | null> {
    return (await this.tenants.membership(tenantId, userId))?.role ?? null;
  }

  /** The workspaces somebody is an active member of, by name; at most 500. */
  async workspacesOf(userId: string): Promise<Workspace[]> {
    return this.tenants.workspacesOf(userId);
  }

  /** The workspace somebody has belonged to longest; null: none. For what concerns a person wherever they work. */
  async anyTenantOf(reader: Reader, userId: string): Promise<string | null> {
    return this.tenants.anyTenantOf(reader, userId);
  }

  /** Under which address and name an active member is known in the workspace; null for anybody else. */
  async profile(tenantId: string, userId: string): Promise<{ email: string; displayName: string } | null> {
    const found = await this.tenants.profile(tenantId, userId);
    return found && { email: found.email, displayName: found.display_name };
  }

  /**
   * @param named ids and e-mail addresses
   * @returns user id by what it was named with; who is no member of the workspace is missing
   */
  async findMembers(tenantId: string, named: string[]): Promise<Map<string, string>> {
    const isId = Map.groupBy(named, isUuid);
    return this.tenants.findMembers(tenantId, isId.get(true) ?? [], isId.get(false) ?? []);
  }

  async idBySlug(slug: string): Promise<string | null> {
    return this.tenants.idBySlug(slug);
  }

  /** Accepts the slug or the id: the tenant claim of external issuers may hold either. */
  async idOfName(name: string): Promise<string | null> {
    return this.tenants.idOfName(name);
  }

  /** Creates or renames the workspace with this slug, adds verified domains. @returns its id */
  async provision(
    tx: Tx,
    tenant: { id: string; slug: string; name: string | null; domains: string[] },
  ): Promise<string> {
    const id = await this.tenants.upsert(tx, tenant);
    await this.tenants.addDomains(tx, id, tenant.domains);
    await this.hooks.run(tx, TENANT_PROVISIONED, { tenantId: id });
    return id;
  }

  /** @returns the members whose role has changed: what is cached about their access is out of date */
  async provisionMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<string[]> {
    const changed = await this.tenants.upsertMembers(tx, tenantId, members);
    const told = members.flatMap(({ userId, role }) => (role === null ? [] : [{ userId, role }]));
    if (told.length > 0) await this.hooks.run(tx, MEMBER_ROLES_SET, { tenantId, members: told });
    await this.hooks.run(tx, MEMBERS_PROVISIONED, { tenantId, userIds: members.map(({ userId }) => userId) });
    return changed;
  }

  /** Changes the name under which the members of the workspace see somebody. */
  async renameMember(tx: Tx, tenantId: string, userId: string, displayName: string): Promise<void> {
    await this.tenants.rename(tx, tenantId, userId, displayName);
  }

  /** Whether somebody is an active member of any workspace. */
  async hasMembership(tx: Tx, userId: string): Promise<boolean> {
    return this.tenants.hasMembership(tx, userId);
  }

  /**
   * Ends or renews memberships.
   * @param tenantId null: in all of the person's workspaces
   * @returns how many memberships there are
   * @throws what an effect of MEMBERSHIP_CHANGING throws, e.g. ApiError 409 `last_admin`
   */
  async setMemberStatus(
    tx: Tx,
    userId: string,
    tenantId: string | null,
    status: MemberStatus,
  ): Promise<number> {
    await this.hooks.run(tx, MEMBERSHIP_CHANGING, { userId, tenantId, status });
    return this.tenants.setStatus(tx, userId, tenantId, status);
  }
}
