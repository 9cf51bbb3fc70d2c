import { Injectable } from '@nestjs/common';
import type { TenantRole } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { UserProfile } from '../settings.schema.js';

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

/** Profile fields that members edit; the display name belongs to the membership. */
export type ProfileFields = Pick<
  ProfileRow,
  'given_name' | 'family_name' | 'title' | 'phone' | 'timezone' | 'locale'
>;

const PROFILE = `SELECT member.user_id AS id, member.email, member.display_name, member.role, member.status, member.created_at,
         coalesce(profile.given_name, '') AS given_name, coalesce(profile.family_name, '') AS family_name,
         coalesce(profile.title, '') AS title, coalesce(profile.phone, '') AS phone, profile.timezone, profile.locale,
         coalesce(profile.updated_at, member.created_at) AS updated_at
    FROM member_profiles member
    LEFT JOIN user_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
   WHERE member.tenant_id = $1 AND member.user_id = $2`;

const read = workspace.statement<ProfileRow>('settings.read_profile', PROFILE);

// A second statement reads the profile, since this one could return rows from before the lock.
const lock = workspace.statement<never>(
  'settings.lock_profile',
  `SELECT FROM member_profiles WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE`,
);

/** Reads and writes profiles. */
@Injectable()
export class ProfileRepository {
  constructor(private readonly db: Db) {}

  async read(tenantId: string, userId: string, reader: Reader = this.db): Promise<ProfileRow | null> {
    return (await reader.query(read, [tenantId, userId]))[0] ?? null;
  }

  /** Reads the profile and locks the settings of the member until the end of the transaction. */
  async lock(tx: Tx, tenantId: string, userId: string): Promise<ProfileRow | null> {
    await tx.query(lock, [tenantId, userId]);
    return this.read(tenantId, userId, tx);
  }

  async write(tx: Tx, tenantId: string, userId: string, fields: ProfileFields): Promise<void> {
    const { given_name, family_name, title, phone, timezone, locale } = fields;
    const values = {
      given_name,
      family_name,
      title,
      phone,
      timezone,
      locale,
      updated_at: () => 'now()',
    };
    await rowsOf(tx, UserProfile).store(['tenant_id', 'user_id'], {
      tenant_id: tenantId,
      user_id: userId,
      ...values,
    });
  }

  /** Sets the time of the last change, for a change of fields that the membership has. */
  async touch(tx: Tx, tenantId: string, userId: string): Promise<void> {
    const values = { tenant_id: tenantId, user_id: userId, updated_at: () => 'now()' };
    await rowsOf(tx, UserProfile).store(['tenant_id', 'user_id'], values);
  }
}
