import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';

export interface ProfileRow {
  id: string;
  email: string;
  display_name: string;
  role: TenantRole;
  status: 'active' | 'deactivated';
  given_name: string;
  family_name: string;
  title: string;
  phone: string;
  timezone: string | null;
  locale: string | null;
  created_at: Date;
  updated_at: Date;
}

/** What people write about themselves; their display name is their membership's. */
export type ProfileFields = Pick<
  ProfileRow,
  'given_name' | 'family_name' | 'title' | 'phone' | 'timezone' | 'locale'
>;

const PROFILE = `SELECT m.user_id AS id, m.email, m.display_name, m.role, m.status, m.created_at,
         coalesce(p.given_name, '') AS given_name, coalesce(p.family_name, '') AS family_name,
         coalesce(p.title, '') AS title, coalesce(p.phone, '') AS phone, p.timezone, p.locale,
         coalesce(p.updated_at, m.created_at) AS updated_at
    FROM tenant_members m LEFT JOIN user_profiles p ON p.tenant_id = m.tenant_id AND p.user_id = m.user_id
   WHERE m.tenant_id = $1 AND m.user_id = $2`;

const read = workspace.statement<ProfileRow>('settings.read_profile', PROFILE);

// Read afterwards, by a statement of its own: what this one would read beside the locked row may be older than the lock.
const lock = workspace.statement<never>(
  'settings.lock_profile',
  `SELECT FROM tenant_members WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE`,
);

const write = workspace.statement<never>(
  'settings.write_profile',
  `INSERT INTO user_profiles AS p (tenant_id, user_id, given_name, family_name, title, phone, timezone, locale)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET given_name = excluded.given_name, family_name = excluded.family_name, title = excluded.title,
         phone = excluded.phone, timezone = excluded.timezone, locale = excluded.locale, updated_at = now()`,
);

/** SQL on profiles. */
@Injectable()
export class ProfileRepository {
  constructor(private readonly db: Db) {}

  async read(tenantId: string, userId: string, reader: Reader = this.db): Promise<ProfileRow | null> {
    return (await reader.query(read, [tenantId, userId]))[0] ?? null;
  }

  /** The same, and whoever changes this person's settings too waits for the end of the transaction. */
  async lock(tx: Tx, tenantId: string, userId: string): Promise<ProfileRow | null> {
    await tx.query(lock, [tenantId, userId]);
    return this.read(tenantId, userId, tx);
  }

  async write(tx: Tx, tenantId: string, userId: string, fields: ProfileFields): Promise<void> {
    const { given_name, family_name, title, phone, timezone, locale } = fields;
    await tx.query(write, [tenantId, userId, given_name, family_name, title, phone, timezone, locale]);
  }
}
