import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { nameWords } from '../../lib/search-text/index.js';
import { addressForms, inBothKana } from '../../lib/text/index.js';
import type { TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { directory, workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TenantMember, type Tenant } from './tenants.schema.js';

/**
 * Folds names and addresses for the directory: each word has one leading space, so that a space marks the beginning of a
 * word. Words of kana are in hiragana and in katakana, internationalised domains in their script and in ASCII.
 */
export function foldWords(...texts: string[]): string {
  return texts
    .flatMap((text) => (text.includes('@') ? addressForms(text) : [text]))
    .flatMap(nameWords)
    .flatMap(inBothKana)
    .map((word) => ` ${word}`)
    .join('');
}

type Membership = Pick<TenantMember, 'tenant_id' | 'role' | 'created_at'>;

/** A workspace with the role of one member. */
export interface Workspace {
  id: string;
  slug: string;
  name: string;
  role: TenantRole;
}

/** The current or requested role of a member. */
export interface MemberRole {
  userId: string;
  role: TenantRole;
}

export interface MemberInput {
  userId: string;
  email: string;
  displayName: string;
  /** Null means the current role, or `member` for a new member. */
  role: TenantRole | null;
  /** The account of a service. */
  isService?: boolean;
}

const membership = workspace.statement<Membership>(
  'tenants.membership',
  `SELECT tenant_id, role, created_at FROM tenant_members
    WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
  { pipelined: true },
);

/** Across workspaces, by the index on user_id. */
const membershipsOf = workspace.statement<Membership>(
  'tenants.memberships_of',
  `SELECT tenant_id, role, created_at FROM tenant_members
    WHERE user_id = $1 AND status = 'active' ORDER BY created_at, tenant_id LIMIT 500`,
  { reach: 'account' },
);

const named = directory.statement<Omit<Workspace, 'role'>>(
  'tenants.named',
  `SELECT id, slug, name FROM tenants WHERE id = ANY ($1::uuid[]) ORDER BY lower(name), id`,
);

// Across workspaces: by the index on user_id.
const anyTenantOf = workspace.statement<Pick<TenantMember, 'tenant_id' | 'created_at'>>(
  'tenants.any_tenant_of',
  `SELECT tenant_id, created_at FROM tenant_members WHERE user_id = $1 AND status = 'active' ORDER BY created_at, tenant_id LIMIT 1`,
  { reach: 'account' },
);

const findMembers = workspace.statement<{ named_as: string; user_id: string }>(
  'tenants.find_members',
  `SELECT wanted.named_as, member.user_id FROM unnest($2::text[]) AS wanted (named_as)
     JOIN tenant_members member ON member.tenant_id = $1 AND member.user_id = wanted.named_as::uuid
   UNION ALL
   SELECT wanted.named_as, member.user_id FROM unnest($3::text[], $4::text[]) AS wanted (named_as, email)
     JOIN tenant_members member ON member.tenant_id = $1 AND lower(member.email) = lower(wanted.email)`,
);

const inactive = workspace.statement<{ ids: string[] | null }>(
  'tenants.inactive_members',
  `SELECT inactive_members($1, $2, $3) AS ids`,
);

const profile = workspace.statement<Pick<TenantMember, 'email' | 'display_name'>>(
  'tenants.profile',
  `SELECT email, display_name FROM tenant_members WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
);

const idBySlug = directory.statement<Pick<Tenant, 'id'>>(
  'tenants.id_by_slug',
  `SELECT id FROM tenants WHERE slug = $1`,
);

const idOfName = directory.statement<Pick<Tenant, 'id'>>(
  'tenants.id_of_name',
  `SELECT id FROM tenants WHERE slug = $1 OR id::text = $1`,
);

const upsert = directory.statement<Pick<Tenant, 'id'>>(
  'tenants.upsert',
  `INSERT INTO tenants AS tenant (id, slug, name) VALUES ($1, $2, coalesce($3, $2))
   ON CONFLICT (slug) DO UPDATE SET name = coalesce($3, tenant.name) RETURNING id`,
);

const setSlug = directory.statement<never>('tenants.set_slug', `UPDATE tenants SET slug = $2 WHERE id = $1`);

const upsertMembers = workspace.statement<Pick<TenantMember, 'user_id'>>(
  'tenants.upsert_members',
  `WITH given AS (
     SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
         AS input (user_id, email, display_name, role, folded, is_service)),
   before AS (
     SELECT member.user_id, member.role FROM tenant_members member JOIN given ON given.user_id = member.user_id
      WHERE member.tenant_id = $1),
   written AS (
     INSERT INTO tenant_members AS member (tenant_id, user_id, email, display_name, role, folded, is_service)
     SELECT $1, given.user_id, given.email, given.display_name, coalesce(given.role, before.role, 'member'), given.folded,
            given.is_service
       FROM given LEFT JOIN before ON before.user_id = given.user_id ORDER BY given.user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET email = excluded.email, display_name = excluded.display_name, role = excluded.role, folded = excluded.folded,
           changed_at = CASE WHEN (member.email, member.display_name) IS DISTINCT FROM (excluded.email, excluded.display_name)
                             THEN now() ELSE member.changed_at END
     WHERE (member.email, member.display_name, member.role, member.folded)
           IS DISTINCT FROM (excluded.email, excluded.display_name, excluded.role, excluded.folded)
     RETURNING member.user_id, member.role)
   SELECT written.user_id FROM written JOIN before ON before.user_id = written.user_id WHERE written.role <> before.role`,
);

const setRoles = workspace.statement<Pick<TenantMember, 'user_id'>>(
  'tenants.set_roles',
  `UPDATE tenant_members member SET role = given.role FROM unnest($2::uuid[], $3::text[]) AS given (user_id, role)
    WHERE member.tenant_id = $1 AND member.user_id = given.user_id AND member.role <> given.role RETURNING member.user_id`,
);

/** Across workspaces, by the index on user_id. */
const withOtherEmail = workspace.statement<Pick<TenantMember, 'tenant_id'>>(
  'tenants.with_other_email',
  `SELECT tenant_id FROM tenant_members
    WHERE user_id = $1 AND email <> $2 AND erased_at IS NULL`,
  { reach: 'account' },
);

const hasMembership = workspace.statement<Pick<TenantMember, 'user_id'>>(
  'tenants.has_membership',
  `SELECT user_id FROM tenant_members WHERE user_id = $1 AND status = 'active' LIMIT 1`,
  { reach: 'account' },
);

@Injectable()
export class TenantsRepository {
  constructor(private readonly db: Db) {}

  async membership(tenantId: string, userId: string, reader: Reader = this.db): Promise<Membership | null> {
    return (await reader.query(membership, [tenantId, userId]))[0] ?? null;
  }

  /** Returns at most 500 workspaces in the order of their names. */
  async workspacesOf(userId: string): Promise<Workspace[]> {
    const memberships = await this.db.query(membershipsOf, [userId]);
    const roles = new Map(memberships.map(({ tenant_id: id, role }) => [id, role]));
    const tenants = await this.db.query(named, [[...roles.keys()]]);
    return tenants.map((tenant) => ({ ...tenant, role: roles.get(tenant.id) as TenantRole }));
  }

  async nameOf(tenantId: string): Promise<string | null> {
    return (await this.db.query(named, [[tenantId]]))[0]?.name ?? null;
  }

  /** Active memberships, oldest first. */
  async tenantIdsOf(userId: string, limit: number): Promise<string[]> {
    return oldestFirst(await this.db.query(membershipsOf, [userId]))
      .slice(0, limit)
      .map((row) => row.tenant_id);
  }

  async anyTenantOf(reader: Reader, userId: string): Promise<string | null> {
    return oldestFirst(await reader.query(anyTenantOf, [userId]))[0]?.tenant_id ?? null;
  }

  async profile(tenantId: string, userId: string): Promise<{ email: string; display_name: string } | null> {
    return (await this.db.query(profile, [tenantId, userId]))[0] ?? null;
  }

  async addressOf(tenantId: string, userId: string): Promise<string | null> {
    const member = await rowsOf(this.db, TenantMember).one({ tenant_id: tenantId, user_id: userId });
    return member && member.erased_at === null ? member.email : null;
  }

  async isService(tenantId: string, userId: string): Promise<boolean> {
    return (
      (await rowsOf(this.db, TenantMember).one({ tenant_id: tenantId, user_id: userId }))?.is_service ?? false
    );
  }

  /** @returns user id by name, without names that match no member */
  async findMembers(
    tenantId: string,
    ids: string[],
    emails: string[],
    reader: Reader = this.db,
  ): Promise<Map<string, string>> {
    const forms = emails.flatMap((email) => addressForms(email).map((form) => ({ email, form })));
    const rows = await reader.query(findMembers, [
      tenantId,
      ids,
      forms.map(({ email }) => email),
      forms.map(({ form }) => form),
    ]);
    return new Map(rows.map((row) => [row.named_as, row.user_id]));
  }

  async findInactive(
    reader: Reader,
    tenantId: string,
    userIds: readonly string[],
    present: readonly string[],
  ): Promise<string[]> {
    return (await reader.query(inactive, [tenantId, userIds, present]))[0]?.ids ?? [];
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

  async setSlug(tx: Tx, id: string, slug: string): Promise<void> {
    await tx.query(setSlug, [id, slug]);
  }

  /** @returns members whose role changed */
  async upsertMembers(tx: Tx, tenantId: string, members: MemberInput[]): Promise<string[]> {
    const column = <K extends keyof MemberInput>(key: K) => members.map((member) => member[key]);
    const columns = [column('userId'), column('email'), column('displayName'), column('role')];
    const folded = members.map((member) => foldWords(member.displayName, member.email));
    const services = members.map(({ isService = false }) => isService);
    return (await tx.query(upsertMembers, [tenantId, ...columns, folded, services])).map(
      (row) => row.user_id,
    );
  }

  /** @returns members whose role changed */
  async setRoles(tx: Tx, tenantId: string, members: readonly MemberRole[]): Promise<string[]> {
    const values = [members.map(({ userId }) => userId), members.map(({ role }) => role)];
    return (await tx.query(setRoles, [tenantId, ...values])).map((row) => row.user_id);
  }

  async rename(tx: Tx, tenantId: string, userId: string, displayName: string): Promise<void> {
    const members = rowsOf(tx, TenantMember);
    const member = await members.one({ tenant_id: tenantId, user_id: userId });
    const folded = foldWords(displayName, member?.email ?? '');
    await members.update(
      { tenant_id: tenantId, user_id: userId },
      { display_name: displayName, folded, changed_at: () => 'now()' },
    );
  }

  /** Workspaces in which a user has another address, without erased memberships. */
  async withOtherEmail(userId: string, email: string): Promise<string[]> {
    return (await this.db.query(withOtherEmail, [userId, email])).map((row) => row.tenant_id);
  }

  /** Changes nothing after the start of an erasure. @param then runs in the same transaction */
  async setEmail(
    tenantId: string,
    userId: string,
    email: string,
    then: (tx: Tx) => Promise<unknown>,
  ): Promise<void> {
    await this.db.tx(async (tx) => {
      const members = rowsOf(tx, TenantMember);
      const member = await members.lock({ tenant_id: tenantId, user_id: userId, erased_at: IsNull() });
      if (!member) return;
      const folded = foldWords(member.display_name, email);
      await members.update(
        { tenant_id: tenantId, user_id: userId },
        { email, folded, changed_at: () => 'now()' },
      );
      await then(tx);
    });
  }

  async hasMembership(tx: Tx, userId: string): Promise<boolean> {
    return (await tx.query(hasMembership, [userId])).length > 0;
  }
}

/** A result from several cells is sorted within each cell only. */
const oldestFirst = <M extends { created_at: Date }>(memberships: M[]): M[] =>
  memberships.toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
