import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { IS_CONNECTED } from '../model/visitor.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../../platform/database/rows.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../../platform/database/tx.js';
import { RowQuota } from '../../../../platform/quotas/row-quota.js';
import type { EndedGuest } from '../../changes/kicks.js';
import { ExternalInvite, GuestDomain } from '../guests.schema.js';

/** An invite belongs to a call or to a chat room. */
export interface InviteScope {
  /** Null means invites to calls. */
  roomId: string | null;
}

/** A call or a room that the caller may see, for new invites. */
export interface InviteTarget {
  call_id: string | null;
  room_id: string | null;
  title: string;
  call_kind: 'meeting' | 'livestream' | null;
  call_state: 'scheduled' | 'live' | 'ended' | null;
  room_type: 'direct' | 'group' | 'channel' | null;
  room_archived: boolean;
  /** The caller is host, owner or moderator. */
  moderates: boolean;
  lobby: boolean | null;
  otp: boolean | null;
  guest_chat: boolean | null;
}

/** A guest of a revoked invite. */
interface RevokedGuest extends EndedGuest {
  was_waiting: boolean;
}

type DomainRequestRow = Pick<GuestDomain, 'id' | 'state' | 'reason'> & { created_at: string };

const targetCall = workspace.statement<InviteTarget>(
  'invites.target_call',
  `SELECT call.id AS call_id, call.room_id, call.title, call.kind AS call_kind, call.state AS call_state, room.type AS room_type,
          room.archived_at IS NOT NULL AS room_archived, access.role <> 'member' AS moderates, call.lobby, call.otp, call.guest_chat
     FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
     LEFT JOIN chat_room_refs room ON room.tenant_id = $1 AND room.id = call.room_id
    WHERE call.tenant_id = $1 AND call.id = $3`,
);

const targetRoom = workspace.statement<InviteTarget>(
  'invites.target_room',
  `SELECT NULL AS call_id, room.id AS room_id, coalesce(room.name, '') AS title, NULL AS call_kind, NULL AS call_state,
          room.type AS room_type, room.archived_at IS NOT NULL AS room_archived, role.role >= 'moderator' AS moderates, NULL::boolean AS lobby,
          NULL::boolean AS otp, NULL::boolean AS guest_chat
     FROM chat_room_refs room
     JOIN chat_room_roles role ON role.tenant_id = $1 AND role.room_id = room.id AND role.user_id = $2
    WHERE room.tenant_id = $1 AND room.id = $3`,
);

const INVITE = `json_build_object(
    'id', invite.id,
    'target', json_build_object('kind', invite.target_kind, 'id',
                                CASE invite.target_kind WHEN 'call' THEN invite.call_id ELSE invite.room_id END),
    'kind', invite.kind, 'email', invite.email, 'name', invite.name, 'role', invite.role, 'state', invite.state,
    'uses', invite.uses, 'max_uses', invite.max_uses, 'require_otp', invite.require_otp,
    'require_approval', invite.require_approval, 'chat_allowed', invite.chat_allowed,
    'has_chat_link', coalesce(invite.chat_expires_at > now(), false), 'created_by', invite.created_by,
    'created_at', rfc3339(invite.created_at), 'expires_at', rfc3339(invite.expires_at))::text`;

// $2 caller, $3 whether they see all invites, $4 room or null for invites to calls.
const VISIBLE = `invite.tenant_id = $1
      AND CASE WHEN $4::uuid IS NULL THEN invite.target_kind = 'call' ELSE invite.target_kind = 'chat_room' AND invite.room_id = $4 END
      AND (invite.created_by = $2 OR $3
           OR invite.target_kind = 'call' AND EXISTS (
             SELECT FROM call_access access WHERE access.tenant_id = $1 AND access.call_id = invite.call_id
                AND access.user_id = $2 AND access.role <> 'member')
           OR EXISTS (
             SELECT FROM chat_room_roles role WHERE role.tenant_id = $1 AND role.room_id = invite.room_id
                AND role.user_id = $2 AND role.role >= 'moderator'))`;

// Indexes: external_invites_call, external_invites_room, the primary key.
const list = workspace.statement<{ id: string; invite: string }>(
  'invites.list',
  `SELECT invite.id, ${INVITE} AS invite FROM guest_invite_states invite
    WHERE ${VISIBLE} AND ($5::uuid IS NULL OR invite.call_id = $5) AND ($6::text IS NULL OR invite.state = $6)
      AND ($7::uuid IS NULL OR invite.id < $7) ORDER BY invite.id DESC LIMIT $8`,
);

const read = workspace.statement<{ invite: string }>(
  'invites.read',
  `SELECT ${INVITE} AS invite FROM guest_invite_states invite WHERE ${VISIBLE} AND invite.id = $5`,
);

// The guests lose their access for good, also with a token that is still valid.
const endGuests = workspace.statement<RevokedGuest>(
  'invites.end_guests',
  `UPDATE guests guest SET state = 'removed', removed_by = $3, removed_at = now(), updated_at = now(),
          session_expires_at = least(guest.session_expires_at, now()),
          kick_pending = guest.call_id IS NOT NULL AND guest.state IN ('admitted', 'in_session', 'left')
     FROM (SELECT id, state FROM guests WHERE tenant_id = $1 AND invite_id = $2 AND state <> 'removed' ORDER BY id FOR UPDATE) before
    WHERE guest.tenant_id = $1 AND guest.id = before.id
   RETURNING guest.id, guest.call_id, guest.role, before.state = 'waiting' AS was_waiting,
             ${IS_CONNECTED} AS is_connected`,
);

const domainStates = workspace.statement<{ domain: string; state: GuestDomain['state'] | null }>(
  'invites.domain_states',
  `SELECT given.domain, stored.state FROM unnest($2::text[]) AS given (domain)
     LEFT JOIN guest_domains stored ON stored.tenant_id = $1 AND stored.domain = given.domain ORDER BY given.domain`,
);

const DOMAIN_REQUEST = 'id, state, reason, rfc3339(created_at) AS created_at';

// Returns no row if the domain is requested or allowed already. Of concurrent requests, one is new.
const requestDomain = workspace.statement<DomainRequestRow>(
  'invites.request_domain',
  `INSERT INTO guest_domains AS stored (tenant_id, id, domain, state, requested_by, reason) VALUES ($1, $2, $3, 'requested', $4, $5)
   ON CONFLICT (tenant_id, domain) DO UPDATE SET state = 'requested', requested_by = excluded.requested_by, reason = excluded.reason
    WHERE stored.state = 'denied' RETURNING ${DOMAIN_REQUEST}`,
);

const knownDomain = workspace.statement<DomainRequestRow>(
  'invites.known_domain',
  `SELECT ${DOMAIN_REQUEST} FROM guest_domains WHERE tenant_id = $1 AND domain = $2`,
);

const administrators = workspace.statement<{ user_id: string }>(
  'invites.administrators',
  `SELECT user_id FROM member_profiles WHERE tenant_id = $1 AND status = 'active' AND role IN ('owner', 'admin')`,
);

// Index external_invites_creator.
const openInvitesOfUser = new RowQuota(
  'user',
  'open_invites',
  'invites',
  'external_invites WHERE tenant_id = $1 AND created_by = $2 AND revoked_at IS NULL AND expires_at > now()',
);

/** SQL of invites and of domains of guests. */
@Injectable()
export class InvitesRepository {
  /** The invites of a user that can be used. */
  readonly openQuota = openInvitesOfUser;

  constructor(private readonly db: Db) {}

  /** @returns undefined for a call or a room that the caller does not see */
  async target(
    { tenantId, userId }: RequestContext,
    target: { callId: string } | { roomId: string },
  ): Promise<InviteTarget | undefined> {
    const [statement, id] = 'callId' in target ? [targetCall, target.callId] : [targetRoom, target.roomId];
    return (await this.db.query(statement, [tenantId, userId, id]))[0];
  }

  async insert(
    tx: Tx,
    { tenantId, userId: createdBy }: RequestContext,
    values: ColumnValues<ExternalInvite>,
  ): Promise<string> {
    const id = uuidv7();
    await rowsOf(tx, ExternalInvite).insert({ ...values, tenant_id: tenantId, id, created_by: createdBy });
    return id;
  }

  /** JSON of invites, the newest first. @param seesAll whether the caller sees invites of others to any call and room */
  async list(
    { tenantId, userId }: RequestContext,
    { roomId }: InviteScope,
    seesAll: boolean,
    filters: { call_id?: string; state?: string },
    after: string | undefined,
    limit: number,
  ): Promise<{ id: string; invite: string }[]> {
    const { call_id = null, state = null } = filters;
    return this.db.query(list, [tenantId, userId, seesAll, roomId, call_id, state, after ?? null, limit]);
  }

  /** JSON of an invite; undefined for one that the caller does not see. */
  async read(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    { roomId }: InviteScope,
    seesAll: boolean,
    id: string,
  ): Promise<string | undefined> {
    return (await reader.query(read, [tenantId, userId, seesAll, roomId, id]))[0]?.invite;
  }

  async update(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
    values: ColumnValues<ExternalInvite>,
  ): Promise<ExternalInvite> {
    const [row] = await rowsOf(tx, ExternalInvite).update({ tenant_id: tenantId, id }, values);
    return row as ExternalInvite;
  }

  /** @returns false for an invite that was revoked before */
  async revoke(tx: Tx, { tenantId }: RequestContext, id: string): Promise<boolean> {
    const revoked = await rowsOf(tx, ExternalInvite).update(
      { tenant_id: tenantId, id, revoked_at: IsNull() },
      { revoked_at: () => 'now()' },
    );
    return revoked.length > 0;
  }

  /** Ends the access of all guests of an invite, and of those in the queue. @returns these guests */
  async endGuests(tx: Tx, { tenantId, userId }: RequestContext, inviteId: string): Promise<RevokedGuest[]> {
    return tx.query(endGuests, [tenantId, inviteId, userId]);
  }

  /** The decisions of the workspace about domains; null for a domain without one. */
  async domainStates(
    { tenantId }: RequestContext,
    domains: readonly string[],
  ): Promise<{ domain: string; state: GuestDomain['state'] | null }[]> {
    return this.db.query(domainStates, [tenantId, domains]);
  }

  /** Adds a request, also for a denied domain; other known domains stay. */
  async requestDomain(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    domain: string,
    reason: string,
  ): Promise<DomainRequestRow & { is_new: boolean }> {
    const [made] = await tx.query(requestDomain, [tenantId, uuidv7(), domain, userId, reason]);
    if (made) return { ...made, is_new: true };
    const [known] = await tx.query(knownDomain, [tenantId, domain]);
    return { ...(known as DomainRequestRow), is_new: false };
  }

  async administrators(tx: Tx, { tenantId }: RequestContext): Promise<string[]> {
    return (await tx.query(administrators, [tenantId])).map((row) => row.user_id);
  }
}
