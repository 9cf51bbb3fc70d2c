import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { type MemberInput, TenantsRepository } from './tenants.repository.js';

/** What other domains may ask of workspaces and their members. */
@Injectable()
export class TenantsApi {
  constructor(private readonly tenants: TenantsRepository) {}

  /** The role of an active member; null for anybody else. */
  async activeRole(tenantId: string, userId: string): Promise<TenantRole | null> {
    return (await this.tenants.membership(tenantId, userId))?.role ?? null;
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
    tenant: { id: string; slug: string; name: string; domains: string[] },
  ): Promise<string> {
    const id = await this.tenants.upsert(tx, tenant);
    await this.tenants.addDomains(tx, id, tenant.domains);
    return id;
  }

  async provisionMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<void> {
    await this.tenants.upsertMembers(tx, tenantId, members);
  }

  /** @param tenantId null: in all of the person's workspaces */
  async deactivateMember(tx: Tx, userId: string, tenantId: string | null): Promise<void> {
    await this.tenants.deactivate(tx, userId, tenantId);
  }
}
