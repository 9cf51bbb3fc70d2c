import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { type CallIdentity, type CallKey, identityOf } from './model/call-events.js';
import type { ServerParticipant } from './call-server.js';
import type { CallParticipant } from './calls.schema.js';

// A later connection of an identity replaces an earlier one. A connection that has ended does not become connected again.
const seen = workspace.statement<Pick<CallParticipant, 'identity'>>(
  'call_participants.seen',
  `INSERT INTO call_participants AS stored
     (tenant_id, call_id, identity, principal_kind, principal_id, connection_id, joined_at, left_at, first_joined_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7)
   ON CONFLICT (tenant_id, call_id, identity) DO UPDATE
      SET connection_id = excluded.connection_id, joined_at = excluded.joined_at, left_at = excluded.left_at,
          first_joined_at = least(stored.first_joined_at, excluded.first_joined_at), changed_at = clock_timestamp()
    WHERE (excluded.joined_at, excluded.connection_id) > (stored.joined_at, stored.connection_id)
       OR excluded.connection_id = stored.connection_id AND stored.left_at IS NULL AND excluded.left_at IS NOT NULL
   RETURNING identity`,
);

// The list of the media server applies only to rows that did not change after it was requested.
const listed = workspace.statement<{ identity: string }>(
  'call_participants.listed',
  `WITH given AS (
     SELECT * FROM unnest($3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::uuid[])
       AS given (identity, connection_id, joined_at, kind, principal_id)),
   connected AS (
     INSERT INTO call_participants AS stored
       (tenant_id, call_id, identity, principal_kind, principal_id, connection_id, joined_at, first_joined_at)
     SELECT $1, $2, identity, kind::call_principal, principal_id, connection_id, joined_at, joined_at FROM given
     ON CONFLICT (tenant_id, call_id, identity) DO UPDATE
        SET connection_id = excluded.connection_id, joined_at = excluded.joined_at, left_at = NULL, changed_at = clock_timestamp()
      WHERE stored.changed_at < $8
        AND (stored.connection_id <> excluded.connection_id OR stored.left_at IS NOT NULL)
     RETURNING identity),
   disconnected AS (
     UPDATE call_participants stored SET left_at = now(), changed_at = clock_timestamp()
      WHERE stored.tenant_id = $1 AND stored.call_id = $2 AND stored.left_at IS NULL AND stored.changed_at < $8
        AND NOT EXISTS (SELECT FROM given WHERE given.identity = stored.identity)
     RETURNING identity)
   SELECT identity FROM connected UNION ALL SELECT identity FROM disconnected`,
);

const emptied = workspace.statement<never>(
  'call_participants.emptied',
  `UPDATE calls SET empty_since = CASE WHEN connected.some THEN NULL ELSE coalesce(empty_since, now()) END
     FROM (SELECT EXISTS (
       SELECT FROM call_participants WHERE tenant_id = $1 AND call_id = $2 AND left_at IS NULL) AS some) connected
    WHERE tenant_id = $1 AND id = $2 AND state = 'live' AND (empty_since IS NULL) <> connected.some`,
);

const leaveAll = workspace.statement<never>(
  'call_participants.leave_all',
  `UPDATE call_participants SET left_at = now(), changed_at = clock_timestamp()
    WHERE tenant_id = $1 AND call_id = $2 AND left_at IS NULL`,
);

const total = workspace.statement<{ count: number }>(
  'call_participants.total',
  `SELECT count(DISTINCT principal_id)::int AS count FROM call_participants
    WHERE tenant_id = $1 AND call_id = $2 AND principal_kind <> 'viewer' AND (left_at IS NULL OR left_at >= $3)`,
);

// The state of a guest follows the connection. A guest who disconnects may join again without approval during the call.
const guestConnected = workspace.statement<never>(
  'call_participants.guest_connected',
  `UPDATE guests SET state = CASE WHEN $3 THEN 'in_session' ELSE 'left' END::guest_state, active_at = now(), updated_at = now()
    WHERE tenant_id = $1 AND id = $2
      AND CASE WHEN $3 THEN state IN ('admitted', 'left') ELSE state = 'in_session' END`,
);

// Users without access to the call; guests and viewers who are not admitted, who are banned, or whose invite is revoked (also because
// its creator has lost access). Each invite is evaluated once. Index: guests_call.
const unwanted = workspace.statement<Pick<CallParticipant, 'identity'>>(
  'call_participants.unwanted',
  `WITH invites AS MATERIALIZED (
     SELECT invite.id FROM guest_invite_states invite
      WHERE invite.tenant_id = $1 AND invite.state <> 'revoked' AND invite.id IN (
        SELECT guest.invite_id FROM guests guest WHERE guest.tenant_id = $1 AND guest.call_id = $2))
   SELECT participant.identity FROM call_participants participant
    WHERE participant.tenant_id = $1 AND participant.call_id = $2 AND participant.left_at IS NULL
      AND CASE participant.principal_kind
            WHEN 'user' THEN NOT EXISTS (
              SELECT FROM call_access access
               WHERE access.tenant_id = $1 AND access.call_id = $2 AND access.user_id = participant.principal_id)
            ELSE NOT EXISTS (
              SELECT FROM guests guest
               WHERE guest.tenant_id = $1 AND guest.id = participant.principal_id AND guest.call_id = $2
                 AND guest.state IN ('admitted', 'in_session', 'left') AND NOT guest.kick_pending
                 AND guest.invite_id IN (SELECT invites.id FROM invites)
                 AND NOT EXISTS (
                   SELECT FROM call_bans ban WHERE ban.tenant_id = $1 AND ban.call_id = $2
                      AND ban.subject IN ('guest:' || guest.id, 'email:' || guest.email))) END`,
);

// Selects those of these identities that are in the audience of a livestream.
const listeners = workspace.statement<Pick<CallParticipant, 'identity'>>(
  'call_participants.listeners',
  `SELECT participant.identity FROM calls call
     JOIN call_participants participant ON participant.tenant_id = $1 AND participant.call_id = call.id
      AND participant.principal_kind = 'user' AND participant.left_at IS NULL AND participant.identity = ANY ($3::text[])
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id
      AND access.user_id = participant.principal_id AND access.role = 'member'
    WHERE call.tenant_id = $1 AND call.id = $2 AND call.kind = 'livestream'`,
);

const connected = workspace.statement<Pick<CallParticipant, 'identity'>>(
  'call_participants.connected',
  `SELECT identity FROM call_participants WHERE tenant_id = $1 AND call_id = $2 AND left_at IS NULL`,
);

/** Connections of participants, as the media server reports them. Lock the call before a change. */
@Injectable()
export class ParticipantsRepository {
  constructor(private readonly db: Db) {}

  /** Records that a participant has connected or disconnected. @param leftAt null: connected. @returns whether anything changed */
  async recordConnection(
    tx: Tx,
    call: CallKey,
    { identity, connectionId, joinedAt }: ServerParticipant,
    leftAt: Date | null,
  ): Promise<boolean> {
    const { kind, id } = identityOf(identity) as CallIdentity;
    const values = [identity, kind, id, connectionId, joinedAt, leftAt];
    const isNew = (await tx.query(seen, [...keyOf(call), ...values])).length > 0;
    if (isNew && kind !== 'user') await tx.query(guestConnected, [call.tenantId, id, leftAt === null]);
    if (isNew) await tx.query(emptied, keyOf(call));
    return isNew;
  }

  /**
   * Records the list of participants of the media server.
   * @param requestedAt time of the database before the list was requested
   * @returns whether anything changed
   */
  async recordList(
    tx: Tx,
    call: CallKey,
    participants: readonly ServerParticipant[],
    requestedAt: Date,
  ): Promise<boolean> {
    const identities = participants.map(({ identity }) => identityOf(identity) as CallIdentity);
    const columns = [
      participants.map(({ identity }) => identity),
      participants.map(({ connectionId }) => connectionId),
      participants.map(({ joinedAt }) => joinedAt),
      identities.map(({ kind }) => kind),
      identities.map(({ id }) => id),
    ];
    const changed = await tx.query(listed, [...keyOf(call), ...columns, requestedAt]);
    const connected = new Set(columns[0] as string[]);
    for (const { identity } of changed) {
      const { kind, id } = identityOf(identity) as CallIdentity;
      if (kind !== 'user') await tx.query(guestConnected, [call.tenantId, id, connected.has(identity)]);
    }
    await tx.query(emptied, keyOf(call));
    return changed.length > 0;
  }

  async leaveAll(tx: Tx, call: CallKey): Promise<void> {
    await tx.query(leaveAll, keyOf(call));
  }

  /** Number of users and guests in the call since a moment. A reusable call keeps the participants of its earlier runs. */
  async total(reader: Reader, call: CallKey, since: Date | null): Promise<number> {
    return (await reader.query(total, [...keyOf(call), since]))[0]?.count ?? 0;
  }

  /** Identities of the connected participants. */
  async listConnected(call: CallKey): Promise<string[]> {
    return (await this.db.query(connected, keyOf(call))).map(({ identity }) => identity);
  }

  /** Of these identities, returns the ones that may only listen. */
  async listeners(call: CallKey, identities: readonly string[]): Promise<string[]> {
    const found = await this.db.query(listeners, [...keyOf(call), identities]);
    return found.map(({ identity }) => identity);
  }

  /** Connected participants who may not be in the call any more. */
  async listUnwanted(call: CallKey): Promise<string[]> {
    return (await this.db.query(unwanted, keyOf(call))).map(({ identity }) => identity);
  }
}

const keyOf = ({ tenantId, callId }: CallKey) => [tenantId, callId];
