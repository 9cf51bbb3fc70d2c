import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { NIL } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { TenantInvitation } from '../access.schema.js';

type InvitationState = TenantInvitation['state'];

const list = workspace.statement<Record<string, unknown>>(
  'access.list_invitations',
  `SELECT tenant_id, id, email, email_key, role, group_ids, message, language, state, token_hash, invited_by, accepted_by, sent,
          created_at, resent_at, expires_at, ended_at
     FROM tenant_invitations
    WHERE tenant_id = $1 AND id > $2 AND ($3::text IS NULL
          OR $3 = CASE WHEN state = 'pending' AND expires_at <= now() THEN 'expired' ELSE state END)
    ORDER BY id LIMIT $4`,
);

const expire = workspace.statement<never>(
  'access.expire_invitations',
  `UPDATE tenant_invitations SET state = 'expired', token_hash = NULL, ended_at = now()
    WHERE ($1::uuid IS NULL OR tenant_id = $1) AND state = 'pending' AND expires_at <= now()`,
  { reach: 'cell' },
);

const countPending = workspace.statement<{ count: number }>(
  'access.count_invitations',
  `SELECT count(*)::int AS count FROM tenant_invitations WHERE tenant_id = $1 AND state = 'pending'
    AND (invited_by IS NULL) = $2`,
);

const purge = workspace.statement<never>(
  'access.purge_invitations',
  `DELETE FROM tenant_invitations WHERE ended_at < now() - interval '90 days'`,
  { reach: 'cell' },
);

/** SQL of invitations. */
@Injectable()
export class InvitationsRepository {
  constructor(private readonly db: Db) {}

  async list(
    tenantId: string,
    state: InvitationState | undefined,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<TenantInvitation[]> {
    const found = await this.db.query(list, [tenantId, after?.[0] ?? NIL, state ?? null, limit]);
    const rows = rowsOf(this.db, TenantInvitation);
    return found.map((row) => rows.hydrate(row));
  }

  /** Ends the expired invitations of a workspace. @returns the number of pending ones by members, or by a verified domain */
  async expire(tx: Tx, tenantId: string, by: 'member' | 'domain'): Promise<number> {
    await tx.query(expire, [tenantId]);
    return (await tx.query(countPending, [tenantId, by === 'domain']))[0]?.count ?? 0;
  }

  async end(
    tx: Tx,
    tenantId: string,
    id: string,
    state: InvitationState,
    acceptedBy: string | null = null,
  ): Promise<TenantInvitation> {
    const values = { state, token_hash: null, accepted_by: acceptedBy, ended_at: () => 'now()' };
    const [invitation] = await rowsOf(tx, TenantInvitation).update({ tenant_id: tenantId, id }, values);
    return invitation as TenantInvitation;
  }

  /** Ends the pending link that the owner of an address requested by a verified domain. */
  async endOfDomain(tx: Tx, tenantId: string, emailKey: string): Promise<void> {
    const pending = {
      tenant_id: tenantId,
      email_key: emailKey,
      state: 'pending' as const,
      invited_by: IsNull(),
    };
    const values = { state: 'revoked' as const, token_hash: null, ended_at: () => 'now()' };
    await rowsOf(tx, TenantInvitation).update(pending, values);
  }

  /** Ends expired invitations of all workspaces, and deletes those that ended 90 days ago. */
  async clean(): Promise<void> {
    await this.db.single((tx) => tx.query(expire, [null]));
    await this.db.single((tx) => tx.query(purge, []));
  }
}
