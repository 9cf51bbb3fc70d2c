import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { type MemberInput, type MemberStatus, TenantsRepository } from './tenants.repository.js';

/** What other domains may ask of workspaces and their members. */
@Injectable()
export class TenantsApi {
  constructor(private readonly tenants: TenantsRepository) {}

  /** The role of an active member; null for anybody else. */
  async activeRole(tenantId: string, userId: string): Promise<TenantRole | null> {
    return (await this.tenants.membership(tenantId, userId))?.role ?? null;
  }

  /** Under which address and name an active member is known in the workspace; null for anybody else. */
  async profile(tenantId: string, userId: string): Promise<{ email: string; displayName: string } | null> {
    const found = await this.tenants.profile(tenantId, userId);
    return found && { email: found.email, displayName: found.display_name };
  }

  /** The workspaces somebody is an active member of. */
  async workspacesOf(userId: string): Promise<string[]> {
    return this.tenants.workspacesOf(userId);
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
    return id;
  }

  /** @returns the members whose role has changed: what is cached about their access is out of date */
  async provisionMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<string[]> {
    return this.tenants.upsertMembers(tx, tenantId, members);
  }

  /**
   * Ends or renews memberships.
   * @param tenantId null: in all of the person's workspaces
   * @returns how many memberships there are
   */
  async setMemberStatus(
    tx: Tx,
    userId: string,
    tenantId: string | null,
    status: MemberStatus,
  ): Promise<number> {
    return this.tenants.setStatus(tx, userId, tenantId, status);
  }
}
