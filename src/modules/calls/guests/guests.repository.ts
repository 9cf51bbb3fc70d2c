import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { IS_CONNECTED, type Visitor } from './model/visitor.js';
import { CallBan } from '../calls.schema.js';
import { Guest, GuestDomain, GuestSpentToken, type GuestState } from './guests.schema.js';
import type { GuestChange, GuestFacts, InviteState } from './model/guest-rules.js';

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

const INVITE = `SELECT ${COLUMNS.join(', ')}, now() AS now, chat_token_hash IS NOT DISTINCT FROM $2 AS is_chat_link
    FROM guest_invite_states
   WHERE tenant_id = $1 AND (token_hash = $2 OR chat_token_hash = $2 AND chat_expires_at > now())`;

const IS_BANNED = `EXISTS (
  SELECT FROM call_bans ban WHERE ban.tenant_id = invite.tenant_id AND ban.call_id = invite.call_id
     AND ban.subject IN ('guest:' || guest.id, 'email:' || guest.email))`;

const invite = workspace.statement<InviteState>('guests.invite', INVITE);

const view = workspace.statement<GuestView>(
  'guests.view',
  // The invite is read once: each use of a row of the view would evaluate the access of its creator again.
  `WITH invite AS MATERIALIZED (${INVITE})
  SELECT ${COLUMNS.map((name) => `invite.${name}`).join(', ')}, invite.now, invite.is_chat_link,
         guest.id AS guest_id, guest.role AS guest_role, guest.display_name AS guest_name, guest.state AS guest_state,
         guest.admitted_seq::float8 AS admitted_seq, ${IS_BANNED} AS is_banned,
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
  `SELECT FROM calls WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
);

const countUse = workspace.statement<never>(
  'guests.count_use',
  `UPDATE external_invites SET uses = uses + 1 WHERE tenant_id = $1 AND id = $2`,
);

// The guest of a personal invite, or the one with the same verified address.
const known = workspace.statement<Pick<Guest, 'id'>>(
  'guests.known',
  `SELECT id FROM guests WHERE tenant_id = $1 AND invite_id = $2 AND ($3 OR email = $4) ORDER BY id LIMIT 1 FOR UPDATE`,
);

const isSuspect = workspace.statement<never>(
  'guests.is_suspect',
  `SELECT FROM guests WHERE tenant_id = $1 AND invite_id = $2 AND state IN ('removed', 'denied') AND address_hash = $3 LIMIT 1`,
);

// A guest has a place for 150 s after the issue of a token, and while connected.
const places = workspace.statement<{ places: number }>(
  'guests.places',
  `SELECT count(*)::int AS places FROM guests guest
    WHERE guest.tenant_id = $1 AND guest.call_id = $2 AND guest.role = $3 AND guest.state = 'in_session'
      AND guest.id IS DISTINCT FROM $4 AND (guest.token_at > now() - interval '150 seconds' OR ${IS_CONNECTED})`,
);

/** Rows of invites, guests and viewers. Lock order: invite -> call -> guest. */
@Injectable()
export class GuestsRepository {
  constructor(private readonly db: Db) {}

  /** The invite of a token, and the guest of the session; undefined for an unknown one. */
  async view({ tenantId, token, session }: Visitor): Promise<GuestView | undefined> {
    return (await this.db.query(view, [tenantId, token, session]))[0];
  }

  /** The invite of a token, or of the token of its chat link. */
  async invite(tx: Tx, { tenantId, token }: Visitor): Promise<InviteState | undefined> {
    return (await tx.query(invite, [tenantId, token]))[0];
  }

  /** Locks the invite, so that its uses are exact. */
  async lockedInvite(tx: Tx, visitor: Visitor): Promise<InviteState | undefined> {
    await tx.query(lockInvite, [visitor.tenantId, visitor.token]);
    return this.invite(tx, visitor);
  }

  /** Locks the call of an invite, so that its places are exact. @returns the invite as it is then */
  async lockedCall(tx: Tx, visitor: Visitor): Promise<InviteState | undefined> {
    const before = await this.invite(tx, visitor);
    if (!before?.call_id) return before;
    await tx.query(lockCall, [visitor.tenantId, before.call_id]);
    return this.invite(tx, visitor);
  }

  async countUse(tx: Tx, { tenant_id, id }: InviteState): Promise<void> {
    await tx.query(countUse, [tenant_id, id]);
  }

  /** Records that a guest is present. */
  async touch(tenantId: string, guestId: string): Promise<void> {
    await this.db.single((tx) => tx.query(touch, [tenantId, guestId]));
  }

  /** The guest of a session, locked. */
  async lockSession(tx: Tx, { tenantId, session }: Visitor, { id }: InviteState): Promise<Guest | null> {
    return session && rowsOf(tx, Guest).lock({ tenant_id: tenantId, session_hash: session, invite_id: id });
  }

  /** The guest of a token, locked. */
  async lockToken(tx: Tx, { tenant_id, id }: InviteState, tokenHash: Buffer): Promise<Guest | null> {
    return rowsOf(tx, Guest).lock({
      tenant_id,
      token_hash: tokenHash,
      invite_id: id,
      role: 'guest',
    });
  }

  /** The guest whose earlier token this is, locked. */
  async lockSpentToken(tx: Tx, { tenant_id, id }: InviteState, tokenHash: Buffer): Promise<Guest | null> {
    const spent = await rowsOf(tx, GuestSpentToken).one({ tenant_id, token_hash: tokenHash });
    return spent && rowsOf(tx, Guest).lock({ tenant_id, id: spent.guest_id, invite_id: id });
  }

  /** The guest that a claim continues, locked. @param email verified; null: any of a personal invite */
  async lockKnown(
    tx: Tx,
    { tenant_id, id }: InviteState,
    email: string | null,
    isAny = false,
  ): Promise<Guest | null> {
    const [row] = await tx.query(known, [tenant_id, id, isAny, email]);
    return row ? rowsOf(tx, Guest).one({ tenant_id, id: row.id }) : null;
  }

  async insert(tx: Tx, values: ColumnValues<Guest>): Promise<Guest> {
    const guest = await rowsOf(tx, Guest).insert(values);
    if (!guest) throw new Error('a new guest has the id or the token of another one');
    return guest;
  }

  async update(tx: Tx, { tenant_id, id }: Guest, change: GuestChange): Promise<Guest> {
    const [guest] = await rowsOf(tx, Guest).update({ tenant_id, id }, change);
    return guest!;
  }

  /** From now on the current token of a guest is an earlier one. */
  async spendToken(tx: Tx, { tenant_id, id, token_hash }: Guest): Promise<void> {
    await rowsOf(tx, GuestSpentToken).insert({ tenant_id, token_hash, guest_id: id });
  }

  private async isBanned(
    tx: Tx,
    { tenant_id, call_id }: InviteState,
    subjects: readonly string[],
  ): Promise<boolean> {
    if (call_id === null) return false;
    return (await rowsOf(tx, CallBan).one({ tenant_id, call_id, subject: In([...subjects]) })) !== null;
  }

  /** Bans of a call apply to addresses and to guests, also with other invites. */
  async isGuestBanned(tx: Tx, invite: InviteState, { id, email }: Guest): Promise<boolean> {
    return this.isBanned(tx, invite, [`guest:${id}`, ...(email === null ? [] : [`email:${email}`])]);
  }

  /** @param guest with a place of their own, who is not counted */
  async facts(tx: Tx, invite: InviteState, guest: Guest | null): Promise<GuestFacts> {
    const { tenant_id, call_id, role } = invite;
    const [row] = await tx.query(places, [tenant_id, call_id, role, guest?.id ?? null]);
    return { isBanned: guest !== null && (await this.isGuestBanned(tx, invite, guest)), places: row!.places };
  }

  /** What decides whether an address may use an invite. */
  async addressFacts(tx: Tx, invite: InviteState, email: string) {
    const domain = email.slice(email.indexOf('@') + 1);
    const known = await rowsOf(tx, GuestDomain).one({ tenant_id: invite.tenant_id, domain });
    return { domain: known?.state, isBanned: await this.isBanned(tx, invite, [`email:${email}`]) };
  }

  /** Whether a guest from this network was removed from the invite, or denied. */
  async isSuspect(tx: Tx, { tenant_id, id }: InviteState, addressHash: Buffer): Promise<boolean> {
    return (await tx.query(isSuspect, [tenant_id, id, addressHash])).length > 0;
  }
}
