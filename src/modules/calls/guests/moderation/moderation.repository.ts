import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import type { EndedGuest } from '../../changes/kicks.js';
import { IS_CONNECTED } from '../model/guest-connection.js';
import type { Guest } from '../guest.entity.js';

export interface CallGuest extends Pick<Guest, 'id' | 'role' | 'state' | 'email'> {
  email_verified: boolean;
}

const lockGuest = workspace.statement<CallGuest>(
  'call_guests.lock',
  `SELECT id, role, state, email, email_verified_at IS NOT NULL AS email_verified FROM guests
    WHERE tenant_id = $1 AND call_id = $2 AND id = $3 FOR UPDATE`,
);

// A removed guest cannot open a session again: each request checks the state.
const remove = workspace.statement<never>(
  'call_guests.remove',
  `UPDATE guests SET state = 'removed', removed_by = $3, removed_at = now(), decision_reason = coalesce($4, decision_reason),
          kick_pending = true, updated_at = now()
    WHERE tenant_id = $1 AND id = $2`,
);

const ban = workspace.statement<never>(
  'call_guests.ban',
  `INSERT INTO call_bans (tenant_id, call_id, subject, reason, banned_by)
   SELECT $1, $2, subject, $4, $5 FROM unnest($3::text[]) AS banned (subject) ON CONFLICT DO NOTHING`,
);

// Ejected guests wait for a new approval, so that a new connection with their old token is disconnected.
const eject = workspace.statement<EndedGuest>(
  'call_guests.eject',
  `UPDATE guests guest SET state = 'waiting', waiting_since = now(), decided_by = NULL, decided_at = NULL,
          kick_pending = ${IS_CONNECTED}, updated_at = now()
    WHERE tenant_id = $1 AND call_id = $2 AND state IN ('admitted', 'in_session', 'left')
   RETURNING id, role, call_id, kick_pending AS is_connected`,
);

/** SQL of the moderation of guests by members. */
@Injectable()
export class GuestModerationRepository {
  async lockGuest(
    tx: Tx,
    { tenantId }: RequestContext,
    callId: string,
    id: string,
  ): Promise<CallGuest | undefined> {
    return (await tx.query(lockGuest, [tenantId, callId, id]))[0];
  }

  async remove(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    reason: string | undefined,
  ): Promise<void> {
    await tx.query(remove, [tenantId, id, userId, reason ?? null]);
  }

  async ban(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    callId: string,
    subjects: readonly string[],
    reason: string,
  ): Promise<void> {
    await tx.query(ban, [tenantId, callId, subjects, reason, userId]);
  }

  async eject(tx: Tx, { tenantId }: RequestContext, callId: string): Promise<EndedGuest[]> {
    return tx.query(eject, [tenantId, callId]);
  }
}
