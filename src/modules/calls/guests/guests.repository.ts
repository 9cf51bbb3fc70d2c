import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { IS_CONNECTED, type Visitor } from './model/visitor.js';
import { Guest, GuestSpentToken, type GuestState } from './guests.schema.js';
import {
  CHANGED_COLUMNS,
  type ClaimFacts,
  type GuestChange,
  type InviteState,
  NEW_COLUMNS,
  type NewGuestRow,
  PLACE_SECONDS,
  type SessionGuest,
} from './model/guest-rules.js';

/** An invite as a visitor sees it, and the guest of their session. */
export interface GuestView extends InviteState {
  guest_id: string | null;
  guest_role: InviteState['role'] | null;
  guest_name: string | null;
  guest_state: GuestState | null;
  admitted_seq: number | null;
  is_banned: boolean;
  /** The last use of the session is older than half a minute. */
  is_stale: boolean | null;
}

const COLUMNS =
  `id tenant_id kind target_kind role email state title starts_at require_otp require_approval chat_allowed uses max_uses call_id call_kind
   call_state locked max_guests max_viewers room_id last_seq`.split(/\s+/);

const OF_TOKEN = `WHERE tenant_id = $1 AND (token_hash = $2 OR chat_token_hash = $2 AND chat_expires_at > now())`;

const INVITE = `SELECT ${COLUMNS.join(', ')}, now() AS now, chat_token_hash IS NOT DISTINCT FROM $2 AS is_chat_link
    FROM guest_invite_states ${OF_TOKEN}`;

// Bans of a call apply to addresses and to guests, also with other invites. A statement that waits for the row of a guest may miss the
// ban of a removal; it sees the state `removed`.
const isBanned = (call: string, subjects: string): string => `EXISTS (
  SELECT FROM call_bans ban WHERE ban.tenant_id = $1 AND ban.call_id = ${call} AND ban.subject IN (${subjects}))`;

const OF_GUEST = `'guest:' || guest.id, 'email:' || guest.email`;

const invite = workspace.statement<InviteState>('guests.invite', INVITE);

const view = workspace.statement<GuestView>(
  'guests.view',
  // The invite is read once: each use of a row of the view would evaluate the access of its creator again.
  `WITH invite AS MATERIALIZED (${INVITE})
  SELECT ${COLUMNS.map((name) => `invite.${name}`).join(', ')}, invite.now, invite.is_chat_link,
         guest.id AS guest_id, guest.role AS guest_role, guest.display_name AS guest_name, guest.state AS guest_state,
         guest.admitted_seq::float8 AS admitted_seq, ${isBanned('invite.call_id', OF_GUEST)} AS is_banned,
         guest.active_at < now() - interval '30 seconds' AS is_stale
    FROM invite
    LEFT JOIN guests guest ON guest.tenant_id = $1 AND guest.session_hash = $3 AND guest.invite_id = invite.id
         AND (guest.session_expires_at > now() OR guest.state = 'removed')`,
  { pipelined: true },
);

const touch = workspace.statement<never>(
  'guests.touch',
  `UPDATE guests SET active_at = now() WHERE tenant_id = $1 AND id = $2 AND state IN ('waiting', 'admitted', 'in_session')`,
);

const lockInvite = workspace.statement<never>(
  'guests.lock_invite',
  `SELECT FROM external_invites WHERE tenant_id = $1 AND (token_hash = $2 OR chat_token_hash = $2) FOR NO KEY UPDATE`,
);

const lockCall = workspace.statement<never>(
  'guests.lock_call',
  `SELECT FROM calls WHERE tenant_id = $1 AND id = (SELECT call_id FROM guest_invite_states ${OF_TOKEN}) FOR NO KEY UPDATE`,
);

const GUEST = `guest.id, guest.tenant_id, guest.invite_id, guest.call_id, guest.room_id, guest.role, guest.state, guest.display_name,
         guest.email, guest.email_verified_at, guest.token_hash, guest.session_hash, guest.session_expires_at, guest.requests,
         guest.waiting_since, guest.active_at, guest.token_at, guest.decided_by, guest.decided_at, guest.decision_reason,
         guest.admitted_seq, guest.removed_by, guest.removed_at, guest.kick_pending, guest.upload_bytes, guest.address_hash,
         guest.user_agent, guest.created_at, guest.updated_at`;

// $2 invite.
const lockedGuest = (condition: string, columns = GUEST): string =>
  `SELECT ${columns} FROM guests guest WHERE guest.tenant_id = $1 AND guest.invite_id = $2 AND ${condition} FOR UPDATE`;

const lockSession = workspace.statement<SessionGuest>(
  'guests.lock_session',
  lockedGuest('guest.session_hash = $3', `${GUEST}, ${isBanned('$4', OF_GUEST)} AS is_banned`),
);

const lockToken = workspace.statement<Guest>(
  'guests.lock_token',
  lockedGuest(`guest.token_hash = $3 AND guest.role = 'guest'`),
);

const lockSpentToken = workspace.statement<Guest>(
  'guests.lock_spent_token',
  lockedGuest(
    `guest.id = (SELECT spent.guest_id FROM guest_spent_tokens spent WHERE spent.tenant_id = $1 AND spent.token_hash = $3)`,
  ),
);

// The guest of a personal invite, or the one with the same verified address.
const lockKnown = workspace.statement<Guest>(
  'guests.lock_known',
  lockedGuest('($3 OR guest.email = $4) ORDER BY guest.id LIMIT 1'),
);

const insert = workspace.statement<Guest>(
  'guests.insert',
  `WITH used AS (UPDATE external_invites SET uses = uses + 1 WHERE tenant_id = $1 AND id = $${NEW_COLUMNS.indexOf('invite_id') + 2})
   INSERT INTO guests AS guest (tenant_id, ${NEW_COLUMNS.join(', ')})
   VALUES ($1, ${NEW_COLUMNS.map((_, n) => `$${n + 2}`).join(', ')}) RETURNING ${GUEST}`,
);

const update = workspace.statement<never>(
  'guests.update',
  `UPDATE guests SET ${CHANGED_COLUMNS.map((name, n) => `${name} = $${n + 3}`).join(', ')} WHERE tenant_id = $1 AND id = $2`,
);

// A guest has a place for some time after the issue of a token, and while connected.
const places = workspace.statement<{ places: number }>(
  'guests.places',
  `SELECT count(*)::int AS places FROM guests guest
    WHERE guest.tenant_id = $1 AND guest.call_id = $2 AND guest.role = $3 AND guest.state = 'in_session'
      AND guest.id IS DISTINCT FROM $4
      AND (guest.token_at > now() - make_interval(secs => ${PLACE_SECONDS}) OR ${IS_CONNECTED})`,
);

// $3 invite, $4 address, $5 hash of the network.
const claimFacts = workspace.statement<ClaimFacts>(
  'guests.claim_facts',
  `SELECT (SELECT domain.state FROM guest_domains domain
            WHERE domain.tenant_id = $1 AND domain.domain = split_part($4, '@', 2)) AS domain,
          ${isBanned('$2', `'email:' || $4`)} AS is_banned,
          EXISTS (SELECT FROM guests guest WHERE guest.tenant_id = $1 AND guest.invite_id = $3
                     AND guest.state IN ('removed', 'denied') AND guest.address_hash = $5) AS is_suspect`,
);

/** Rows of invites, guests and viewers. Lock order: invite -> call -> guest. */
@Injectable()
export class GuestsRepository {
  constructor(private readonly db: Db) {}

  /** The invite of a token, and the guest of the session; undefined for an unknown one. */
  async view({ tenantId, token, session }: Visitor): Promise<GuestView | undefined> {
    return (await this.db.query(view, [tenantId, token, session]))[0];
  }

  /** The invite of a token, or of the token of its chat link. Locks come before: it is read as it is then. */
  async invite(tx: Tx, { tenantId, token }: Visitor): Promise<InviteState | undefined> {
    return (await tx.query(invite, [tenantId, token]))[0];
  }

  /** Locks the invite, so that its uses are exact. */
  async lockInvite(tx: Tx, { tenantId, token }: Visitor): Promise<void> {
    await tx.query(lockInvite, [tenantId, token]);
  }

  /** Locks the call of the invite, so that its places are exact. */
  async lockCall(tx: Tx, { tenantId, token }: Visitor): Promise<void> {
    await tx.query(lockCall, [tenantId, token]);
  }

  /** Records that a guest is present. */
  async touch(tenantId: string, guestId: string): Promise<void> {
    await this.db.single((tx) => tx.query(touch, [tenantId, guestId]));
  }

  /** The guest of a session, locked. */
  async lockSession(
    tx: Tx,
    { tenantId, session }: Visitor,
    { id, call_id }: InviteState,
  ): Promise<SessionGuest | null> {
    return session && ((await tx.query(lockSession, [tenantId, id, session, call_id]))[0] ?? null);
  }

  /** The guest of a token, locked. */
  async lockToken(tx: Tx, { tenant_id, id }: InviteState, tokenHash: Buffer): Promise<Guest | null> {
    return (await tx.query(lockToken, [tenant_id, id, tokenHash]))[0] ?? null;
  }

  /** The guest whose earlier token this is, locked. */
  async lockSpentToken(tx: Tx, { tenant_id, id }: InviteState, tokenHash: Buffer): Promise<Guest | null> {
    return (await tx.query(lockSpentToken, [tenant_id, id, tokenHash]))[0] ?? null;
  }

  /** The guest that a claim continues, locked. @param email verified; null: any of a personal invite */
  async lockKnown(
    tx: Tx,
    { tenant_id, id }: InviteState,
    email: string | null,
    isAny = false,
  ): Promise<Guest | null> {
    return (await tx.query(lockKnown, [tenant_id, id, isAny, email]))[0] ?? null;
  }

  /** Adds a guest, which uses the invite. */
  async insert(tx: Tx, { tenant_id }: InviteState, guest: NewGuestRow): Promise<Guest> {
    const [made] = await tx.query(insert, [tenant_id, ...NEW_COLUMNS.map((name) => guest[name])]);
    return made!;
  }

  /** @param guest locked, so that the columns without a change are stored as they are */
  async update(tx: Tx, guest: Guest, change: GuestChange): Promise<Guest> {
    const changed: Guest = { ...guest, ...change };
    await tx.query(update, [guest.tenant_id, guest.id, ...CHANGED_COLUMNS.map((name) => changed[name])]);
    return changed;
  }

  /** From now on the current token of a guest is an earlier one. */
  async spendToken(tx: Tx, { tenant_id, id, token_hash }: Guest): Promise<void> {
    await rowsOf(tx, GuestSpentToken).insert({ tenant_id, token_hash, guest_id: id });
  }

  /** Places of the call that others than this guest have. */
  async places(tx: Tx, { tenant_id, call_id, role }: InviteState, guest: Guest | null): Promise<number> {
    return (await tx.query(places, [tenant_id, call_id, role, guest?.id ?? null]))[0]!.places;
  }

  /** What decides whether an address may use an invite, and whether a host decides about the guest. */
  async claimFacts(
    tx: Tx,
    { tenant_id, id, call_id }: InviteState,
    email: string | null,
    addressHash: Buffer,
  ): Promise<ClaimFacts> {
    return (await tx.query(claimFacts, [tenant_id, call_id, id, email, addressHash]))[0]!;
  }
}
