import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { directory, workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { directoryWords } from './directory-words.js';

export interface Membership {
  tenant_id: string;
  role: TenantRole;
}

/** A workspace as one of its members sees it. */
export interface Workspace {
  id: string;
  slug: string;
  name: string;
  role: TenantRole;
}

export type MemberStatus = 'active' | 'deactivated';

export interface MemberInput {
  userId: string;
  email: string;
  displayName: string;
  /** Null: the role they have, `member` for somebody new. */
  role: TenantRole | null;
}

const membership = workspace.statement<Membership>(
  'tenants.membership',
  `SELECT tenant_id, role FROM tenant_members
    WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
);

/** Across workspaces, as the choice of one must be: by the index on user_id. */
const membershipsOf = workspace.statement<Membership>(
  'tenants.memberships_of',
  `SELECT tenant_id, role FROM tenant_members
    WHERE user_id = $1 AND status = 'active' ORDER BY created_at, tenant_id LIMIT 500`,
);

const named = directory.statement<Omit<Workspace, 'role'>>(
  'tenants.named',
  `SELECT id, slug, name FROM tenants WHERE id = ANY ($1::uuid[]) ORDER BY lower(name), id`,
);

// Across workspaces: by the index on user_id.
const anyTenantOf = workspace.statement<{ tenant_id: string }>(
  'tenants.any_tenant_of',
  `SELECT tenant_id FROM tenant_members WHERE user_id = $1 AND status = 'active' ORDER BY created_at, tenant_id LIMIT 1`,
);

const findMembers = workspace.statement<{ who: string; user_id: string }>(
  'tenants.find_members',
  `SELECT w.who, m.user_id FROM unnest($2::text[]) AS w (who)
     JOIN tenant_members m ON m.tenant_id = $1 AND m.user_id = w.who::uuid
   UNION ALL
   SELECT w.who, m.user_id FROM unnest($3::text[]) AS w (who)
     JOIN tenant_members m ON m.tenant_id = $1 AND lower(m.email) = lower(trim(w.who))`,
);

const profile = workspace.statement<{ email: string; display_name: string }>(
  'tenants.profile',
  `SELECT email, display_name FROM tenant_members WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
);

const idBySlug = directory.statement<{ id: string }>(
  'tenants.id_by_slug',
  `SELECT id FROM tenants WHERE slug = $1`,
);

const idOfName = directory.statement<{ id: string }>(
  'tenants.id_of_name',
  `SELECT id FROM tenants WHERE slug = $1 OR id::text = $1`,
);

const upsert = directory.statement<{ id: string }>(
  'tenants.upsert',
  `INSERT INTO tenants AS t (id, slug, name) VALUES ($1, $2, coalesce($3, $2))
   ON CONFLICT (slug) DO UPDATE SET name = coalesce($3, t.name) RETURNING id`,
);

const addDomains = directory.statement<never>(
  'tenants.add_domains',
  `INSERT INTO tenant_domains (tenant_id, domain, verified_at)
   SELECT $1, d, now() FROM unnest($2::text[]) AS d ON CONFLICT DO NOTHING`,
);

const upsertMembers = workspace.statement<{ user_id: string }>(
  'tenants.upsert_members',
  `WITH given AS (
     SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
         AS g (user_id, email, display_name, role, folded)),
   before AS (
     SELECT m.user_id, m.role FROM tenant_members m JOIN given g ON g.user_id = m.user_id WHERE m.tenant_id = $1),
   written AS (
     INSERT INTO tenant_members AS m (tenant_id, user_id, email, display_name, role, folded)
     SELECT $1, g.user_id, g.email, g.display_name, coalesce(g.role, b.role, 'member'), g.folded
       FROM given g LEFT JOIN before b ON b.user_id = g.user_id ORDER BY g.user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET email = excluded.email, display_name = excluded.display_name, role = excluded.role, folded = excluded.folded
     WHERE (m.email, m.display_name, m.role, m.folded)
           IS DISTINCT FROM (excluded.email, excluded.display_name, excluded.role, excluded.folded)
     RETURNING m.user_id, m.role)
   SELECT w.user_id FROM written w JOIN before b ON b.user_id = w.user_id WHERE w.role <> b.role`,
);

const rename = workspace.statement<never>(
  'tenants.rename_member',
  `UPDATE tenant_members SET display_name = $3, folded = $4 WHERE tenant_id = $1 AND user_id = $2`,
);

const emailOf = workspace.statement<{ email: string }>(
  'tenants.email_of_member',
  `SELECT email FROM tenant_members WHERE tenant_id = $1 AND user_id = $2`,
);

const unfolded = workspace.statement<{
  tenant_id: string;
  user_id: string;
  display_name: string;
  email: string;
}>(
  'tenants.unfolded_members',
  `SELECT tenant_id, user_id, display_name, email FROM tenant_members WHERE folded IS NULL LIMIT $1`,
);

// Unless somebody has been renamed meanwhile: that has folded it too.
const foldMembers = workspace.statement<never>(
  'tenants.fold_members',
  `UPDATE tenant_members m SET folded = f.folded
     FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS f (tenant_id, user_id, folded)
    WHERE m.tenant_id = f.tenant_id AND m.user_id = f.user_id AND m.folded IS NULL`,
);

const hasMembership = workspace.statement<{ user_id: string }>(
  'tenants.has_membership',
  `SELECT user_id FROM tenant_members WHERE user_id = $1 AND status = 'active' LIMIT 1`,
);

const setMemberStatus = workspace.statement<{ user_id: string }>(
  'tenants.set_member_status',
  `UPDATE tenant_members SET status = $3 WHERE tenant_id = $1 AND user_id = $2 RETURNING user_id`,
);

const setStatusEverywhere = workspace.statement<{ user_id: string }>(
  'tenants.set_status_everywhere',
  `UPDATE tenant_members SET status = $2 WHERE user_id = $1 RETURNING user_id`,
);

@Injectable()
export class TenantsRepository {
  constructor(private readonly db: Db) {}

  async membership(tenantId: string, userId: string): Promise<Membership | null> {
    return (await this.db.query(membership, [tenantId, userId]))[0] ?? null;
  }

  /** By name; at most 500. */
  async workspacesOf(userId: string): Promise<Workspace[]> {
    const memberships = await this.db.query(membershipsOf, [userId]);
    const roles = new Map(memberships.map(({ tenant_id: id, role }) => [id, role]));
    const tenants = await this.db.query(named, [[...roles.keys()]]);
    return tenants.map((tenant) => ({ ...tenant, role: roles.get(tenant.id) as TenantRole }));
  }

  async anyTenantOf(reader: Reader, userId: string): Promise<string | null> {
    return (await reader.query(anyTenantOf, [userId]))[0]?.tenant_id ?? null;
  }

  async profile(tenantId: string, userId: string): Promise<{ email: string; display_name: string } | null> {
    return (await this.db.query(profile, [tenantId, userId]))[0] ?? null;
  }

  /** @returns user id by what it was named with; who is no member is missing */
  async findMembers(tenantId: string, ids: string[], emails: string[]): Promise<Map<string, string>> {
    const rows = await this.db.query(findMembers, [tenantId, ids, emails]);
    return new Map(rows.map((row) => [row.who, row.user_id]));
  }

  async idBySlug(slug: string): Promise<string | null> {
    return (await this.db.query(idBySlug, [slug]))[0]?.id ?? null;
  }

  /** @param name a slug or an id */
  async idOfName(name: string): Promise<string | null> {
    return (await this.db.query(idOfName, [name]))[0]?.id ?? null;
  }

  async upsert(tx: Tx, tenant: { id: string; slug: string; name: string | null }): Promise<string> {
    const [row] = await tx.query(upsert, [tenant.id, tenant.slug, tenant.name]);
    return (row as { id: string }).id;
  }

  async addDomains(tx: Tx, tenantId: string, domains: string[]): Promise<void> {
    if (domains.length > 0) await tx.query(addDomains, [tenantId, domains]);
  }

  /** @returns those whose role has changed */
  async upsertMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<string[]> {
    const column = <K extends keyof MemberInput>(key: K) => members.map((member) => member[key]);
    const columns = [column('userId'), column('email'), column('displayName'), column('role')];
    const folded = members.map((member) => directoryWords(member.displayName, member.email));
    return (await tx.query(upsertMembers, [tenantId, ...columns, folded])).map((row) => row.user_id);
  }

  async rename(tx: Tx, tenantId: string, userId: string, displayName: string): Promise<void> {
    const [member] = await tx.query(emailOf, [tenantId, userId]);
    const folded = directoryWords(displayName, member?.email ?? '');
    await tx.query(rename, [tenantId, userId, displayName, folded]);
  }

  /** Folds up to `limit` rows that a version without the directory has written. @returns how many there were */
  async foldSome(tx: Tx, limit: number): Promise<number> {
    const rows = await tx.query(unfolded, [limit]);
    if (rows.length > 0)
      await tx.query(foldMembers, [
        rows.map((row) => row.tenant_id),
        rows.map((row) => row.user_id),
        rows.map((row) => directoryWords(row.display_name, row.email)),
      ]);
    return rows.length;
  }

  async hasMembership(tx: Tx, userId: string): Promise<boolean> {
    return (await tx.query(hasMembership, [userId])).length > 0;
  }

  /** @returns how many memberships there are to set */
  async setStatus(tx: Tx, userId: string, tenantId: string | null, status: MemberStatus): Promise<number> {
    const rows =
      tenantId === null
        ? await tx.query(setStatusEverywhere, [userId, status])
        : await tx.query(setMemberStatus, [tenantId, userId, status]);
    return rows.length;
  }
}
