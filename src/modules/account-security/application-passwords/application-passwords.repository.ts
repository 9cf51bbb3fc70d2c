import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { MAX } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { type Reach, workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { Scope } from './application-password-provider.js';
import { ApplicationPassword } from '../account-security.schema.js';
import type { ApplicationPasswordResponse } from './application-passwords.dto.js';

/** Key for the removal from the mail service. */
export interface ApplicationPasswordKey {
  tenant_id: string;
  id: string;
}

interface ApplicationPasswordInput {
  id: string;
  state: 'creating' | 'active';
  description: string;
  scopes: Scope[];
  selector: string;
  hash: string;
  ttl: number | null;
}

const COLUMNS = 'id, description, scopes, created_at, expires_at, last_used_at, last_used_ip';
const LIVE = `state = 'active' AND (expires_at IS NULL OR expires_at > now())`;

// A random free slot: parallel creations rarely collide, and retry if they do.
const create = workspace.statement<ApplicationPasswordResponse>(
  'application_passwords.create',
  `INSERT INTO application_passwords
     (tenant_id, user_id, id, slot, state, description, scopes, selector, hash, expires_at)
   SELECT $1, $2, $3, free.slot, $4, $5, $6::text[], $7, $8, now() + make_interval(secs => $9::float8)
     FROM generate_series(1, $10::int) AS free (slot)
    WHERE NOT EXISTS (
      SELECT FROM application_passwords taken
       WHERE taken.tenant_id = $1 AND taken.user_id = $2 AND taken.slot = free.slot)
    ORDER BY random() LIMIT 1
   ON CONFLICT (tenant_id, user_id, slot) DO NOTHING
   RETURNING ${COLUMNS}`,
);

const count = workspace.statement<{ count: number }>(
  'application_passwords.count',
  `SELECT count(*)::int AS count FROM application_passwords WHERE tenant_id = $1 AND user_id = $2 AND ${LIVE}`,
);

const list = workspace.statement<ApplicationPasswordResponse>(
  'application_passwords.list',
  `SELECT ${COLUMNS} FROM application_passwords
    WHERE tenant_id = $1 AND user_id = $2 AND id < $3 AND ${LIVE} ORDER BY id DESC LIMIT $4`,
);

const read = workspace.statement<ApplicationPasswordResponse>(
  'application_passwords.read',
  `SELECT ${COLUMNS} FROM application_passwords WHERE tenant_id = $1 AND user_id = $2 AND id = $3 AND ${LIVE}`,
);

const OWN = 'tenant_id = $1 AND user_id = $2 AND id = $3';

/** Ends passwords: they free their slots. Rows stay until the mail service has deleted the passwords. */
const ending = (name: string, condition: string, reach: Reach = 'tenant') =>
  workspace.statement<ApplicationPasswordKey>(
    `application_passwords.${name}`,
    `UPDATE application_passwords SET state = 'removing', slot = NULL WHERE ${condition} RETURNING tenant_id, id`,
    { reach },
  );

const end = ending('end', `${OWN} AND ${LIVE}`);
const abandon = ending('abandon', `${OWN} AND state = 'creating'`);
const endAll = ending(
  'end_all',
  `user_id = $1 AND ($2::uuid IS NULL OR tenant_id = $2) AND state IN ('creating', 'active')`,
  'account',
);
const endExpiredOf = ending(
  'end_expired_of',
  `tenant_id = $1 AND user_id = $2 AND state = 'active' AND expires_at <= now()`,
);
// The mail service may store passwords whose creation did not complete.
const endLapsed = ending(
  'end_lapsed',
  `(tenant_id, id) IN (
     (SELECT tenant_id, id FROM application_passwords WHERE state = 'active' AND expires_at <= now() LIMIT 500)
     UNION ALL
     (SELECT tenant_id, id FROM application_passwords
       WHERE state = 'creating' AND created_at < now() - interval '10 minutes' LIMIT 500))`,
  'cell',
);

/** A password that can be verified. */
type VerifiedRow = Pick<ApplicationPassword, 'id' | 'hash' | 'expires_at'> & { scopes: Scope[] };

const bySelector = workspace.statement<VerifiedRow>(
  'application_passwords.by_selector',
  `SELECT id, hash, scopes, expires_at FROM application_passwords
    WHERE tenant_id = $1 AND user_id = $2 AND selector = ANY ($3::text[]) AND ${LIVE}`,
);

const used = workspace.statement<never>(
  'application_passwords.used',
  `UPDATE application_passwords SET last_used_at = now(), last_used_ip = $3
    WHERE tenant_id = $1 AND id = $2
      AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute' OR last_used_ip IS DISTINCT FROM $3)`,
);

/** SQL of application passwords. */
@Injectable()
export class ApplicationPasswordsRepository {
  constructor(private readonly db: Db) {}

  /** @returns null without a free slot, or when a parallel request took the chosen slot */
  async create(
    tx: Tx,
    tenantId: string,
    userId: string,
    input: ApplicationPasswordInput,
  ): Promise<ApplicationPasswordResponse | null> {
    const { id, state, description, scopes, selector, hash, ttl } = input;
    const fields = [
      id,
      state,
      description,
      scopes,
      selector,
      hash,
      ttl,
      QUOTAS.account.application_passwords,
    ];
    return (await tx.query(create, [tenantId, userId, ...fields]))[0] ?? null;
  }

  async isFull(tx: Tx, tenantId: string, userId: string): Promise<boolean> {
    const taken = await rowsOf(tx, ApplicationPassword).count({
      tenant_id: tenantId,
      user_id: userId,
      slot: Not(IsNull()),
    });
    return taken >= QUOTAS.account.application_passwords;
  }

  async count(tenantId: string, userId: string): Promise<number> {
    return (await this.db.query(count, [tenantId, userId]))[0]?.count ?? 0;
  }

  /** @param providerId of the mail service; null if it stores none @returns false when the password was ended meanwhile */
  async activate(
    tx: Tx,
    tenantId: string,
    userId: string,
    id: string,
    providerId: string | null,
  ): Promise<boolean> {
    const creating = { tenant_id: tenantId, user_id: userId, id, state: 'creating' as const };
    const active = await rowsOf(tx, ApplicationPassword).update(creating, {
      state: 'active',
      provider_id: providerId,
    });
    return active.length > 0;
  }

  /** Newest first. */
  async list(
    tenantId: string,
    userId: string,
    before: readonly [string] | undefined,
    limit: number,
  ): Promise<ApplicationPasswordResponse[]> {
    return this.db.query(list, [tenantId, userId, before?.[0] ?? MAX, limit]);
  }

  async read(tenantId: string, userId: string, id: string): Promise<ApplicationPasswordResponse | null> {
    return (await this.db.query(read, [tenantId, userId, id]))[0] ?? null;
  }

  async end(tx: Tx, tenantId: string, userId: string, id: string): Promise<ApplicationPasswordKey | null> {
    return (await tx.query(end, [tenantId, userId, id]))[0] ?? null;
  }

  /** Ends a password whose creation did not complete. */
  async abandon(
    tx: Tx,
    tenantId: string,
    userId: string,
    id: string,
  ): Promise<ApplicationPasswordKey | null> {
    return (await tx.query(abandon, [tenantId, userId, id]))[0] ?? null;
  }

  /** Ends all passwords, also those in creation. @param tenantId null: in all workspaces */
  async endAll(tx: Tx, userId: string, tenantId: string | null): Promise<ApplicationPasswordKey[]> {
    return tx.query(endAll, [userId, tenantId]);
  }

  async endExpiredOf(tx: Tx, tenantId: string, userId: string): Promise<ApplicationPasswordKey[]> {
    return tx.query(endExpiredOf, [tenantId, userId]);
  }

  /** Ends expired and incomplete passwords; up to 1,000. */
  async endLapsed(tx: Tx): Promise<ApplicationPasswordKey[]> {
    return tx.query(endLapsed, []);
  }

  /** The key of a password in removal. */
  async findRemoval(tenantId: string, id: string): Promise<ApplicationPassword | null> {
    return rowsOf(this.db, ApplicationPassword).one({ tenant_id: tenantId, id, state: 'removing' });
  }

  async forget(tx: Tx, tenantId: string, id: string): Promise<void> {
    await rowsOf(tx, ApplicationPassword).delete({ tenant_id: tenantId, id, state: Not('active') });
  }

  async bySelector(tenantId: string, userId: string, selectors: string[]): Promise<VerifiedRow[]> {
    return this.db.query(bySelector, [tenantId, userId, selectors]);
  }

  /** Records the last use, at most once a minute per address. */
  async recordUse(tx: Tx, tenantId: string, id: string, ip: string | null): Promise<void> {
    await tx.query(used, [tenantId, id, ip]);
  }
}
