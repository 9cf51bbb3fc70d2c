import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

export interface Membership {
  tenant_id: string;
  role: TenantRole;
}

export interface MemberInput {
  userId: string;
  email: string;
  displayName: string;
  role: TenantRole;
}

const membership = statement<Membership>(
  'tenants.membership',
  `SELECT tenant_id, role FROM tenant_members
    WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
);

const idBySlug = statement<{ id: string }>('tenants.id_by_slug', `SELECT id FROM tenants WHERE slug = $1`);

const idOfName = statement<{ id: string }>(
  'tenants.id_of_name',
  `SELECT id FROM tenants WHERE slug = $1 OR id::text = $1`,
);

const upsert = statement<{ id: string }>(
  'tenants.upsert',
  `INSERT INTO tenants (id, slug, name) VALUES ($1, $2, $3)
   ON CONFLICT (slug) DO UPDATE SET name = excluded.name RETURNING id`,
);

const addDomains = statement<never>(
  'tenants.add_domains',
  `INSERT INTO tenant_domains (tenant_id, domain, verified_at)
   SELECT $1, d, now() FROM unnest($2::text[]) AS d ON CONFLICT DO NOTHING`,
);

const upsertMembers = statement<never>(
  'tenants.upsert_members',
  `INSERT INTO tenant_members AS m (tenant_id, user_id, email, display_name, role)
   SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) ORDER BY 2
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET email = excluded.email, display_name = excluded.display_name, role = excluded.role
   WHERE (m.email, m.display_name, m.role) IS DISTINCT FROM (excluded.email, excluded.display_name, excluded.role)`,
);

const deactivateMember = statement<{ user_id: string }>(
  'tenants.deactivate_member',
  `UPDATE tenant_members SET status = 'deactivated' WHERE tenant_id = $1 AND user_id = $2 RETURNING user_id`,
);

const deactivateEverywhere = statement<{ user_id: string }>(
  'tenants.deactivate_everywhere',
  `UPDATE tenant_members SET status = 'deactivated' WHERE user_id = $1 RETURNING user_id`,
);

@Injectable()
export class TenantsRepository {
  constructor(private readonly db: Db) {}

  async membership(tenantId: string, userId: string): Promise<Membership | null> {
    return (await this.db.query(membership, [tenantId, userId]))[0] ?? null;
  }

  async idBySlug(slug: string): Promise<string | null> {
    return (await this.db.query(idBySlug, [slug]))[0]?.id ?? null;
  }

  /** @param name a slug or an id */
  async idOfName(name: string): Promise<string | null> {
    return (await this.db.query(idOfName, [name]))[0]?.id ?? null;
  }

  async upsert(tx: Tx, tenant: { id: string; slug: string; name: string }): Promise<string> {
    const [row] = await tx.query(upsert, [tenant.id, tenant.slug, tenant.name]);
    return (row as { id: string }).id;
  }

  async addDomains(tx: Tx, tenantId: string, domains: string[]): Promise<void> {
    if (domains.length > 0) await tx.query(addDomains, [tenantId, domains]);
  }

  async upsertMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<void> {
    const column = <K extends keyof MemberInput>(key: K) => members.map((member) => member[key]);
    await tx.query(upsertMembers, [
      tenantId,
      column('userId'),
      column('email'),
      column('displayName'),
      column('role'),
    ]);
  }

  async deactivate(tx: Tx, userId: string, tenantId: string | null): Promise<void> {
    if (tenantId === null) await tx.query(deactivateEverywhere, [userId]);
    else await tx.query(deactivateMember, [tenantId, userId]);
  }
}
