import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/errors.js';
import { ApprovalChanges } from './changes/approval-changes.js';
import { GuestCodes } from './guest-codes.js';
import type { Guest, GuestState } from './guests.schema.js';
import { GuestErrors } from './guests.dto.js';
import { GuestsRepository } from './guests.repository.js';
import {
  addressOf,
  claimInvite,
  endSessions,
  enterCall,
  type GuestChange,
  type GuestPolicy,
  hasSession,
  type InviteState,
  joinAudience,
  leaveCall,
  type NewGuest,
  type NewGuestRow,
  rejectChat,
  rejectClaim,
  rejectEnded,
  rejectFor,
  renewGuest,
  verifyViewer,
  writeToChat,
} from './model/guest-rules.js';
import type { Visitor } from './model/visitor.js';

/** A guest who waits for a decision. */
export class WaitingGuest {}

/**
 * Changes of guests and viewers, each in one transaction: it locks the rows, asks the rules, writes. A method returns the error of
 * a rejection instead of throwing it where its transaction commits, so that a counted guess stays counted.
 */
@Injectable()
export class GuestSessions {
  constructor(
    private readonly guests: GuestsRepository,
    private readonly codes: GuestCodes,
    private readonly approvals: ApprovalChanges,
    private readonly db: Db,
  ) {}

  /** Makes the bearer of an invite a guest, or continues as the guest with the same verified address. @param seconds of the session */
  async claim(visitor: Visitor, values: NewGuest, seconds: number): Promise<Guest> {
    return this.settle(async (tx) => {
      await this.guests.lockInvite(tx, visitor);
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const rejection = rejectClaim(invite, values);
      if (rejection) return rejection;
      const email = addressOf(invite, values);
      if (invite.require_otp) {
        const invalid = await this.codes.check(tx, invite, 'join', email as string, values.codes ?? []);
        if (invalid) return invalid;
      }
      const isPersonal = invite.kind === 'personal';
      const isKnown = isPersonal || invite.require_otp;
      const known = isKnown ? await this.guests.lockKnown(tx, invite, email, isPersonal) : null;
      const facts = await this.guests.claimFacts(tx, invite, email, values.addressHash);
      const change = claimInvite(invite, values, known, facts, this.policy(seconds));
      return change instanceof ApiError ? change : this.store(tx, invite, known, change);
    });
  }

  /**
   * Replaces the token and the session of a guest. An earlier token ends all sessions of its guest.
   * @param onReuse called with the guest of an earlier token, after the commit
   */
  async rotate(
    visitor: Visitor,
    guestToken: Buffer,
    next: { token: Buffer; session: Buffer },
    seconds: number,
    onReuse: (guest: Guest) => Promise<void>,
  ): Promise<void> {
    let reused: Guest | undefined;
    const result = await this.db.tx(async (tx) => {
      reused = undefined;
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const ended = rejectEnded(invite);
      if (ended) return ended;
      const guest = await this.guests.lockToken(tx, invite, guestToken);
      const former = guest ? null : await this.guests.lockSpentToken(tx, invite, guestToken);
      if (former) {
        reused = await this.guests.update(tx, former, endSessions(former, randomBytes(32), invite.now));
        return GuestErrors.sessionReused.with();
      }
      const hashes = { token_hash: next.token, session_hash: next.session };
      const change = renewGuest(guest, hashes, invite.now, this.policy(seconds));
      return change instanceof ApiError ? change : this.store(tx, invite, guest, change);
    });
    if (reused) await onReuse(reused);
    if (result instanceof ApiError) throw result;
  }

  /** Gives an admitted guest a place in the call, or a place in the queue. */
  async enter(visitor: Visitor): Promise<Guest | WaitingGuest> {
    return this.settle<Guest | WaitingGuest>(async (tx) => {
      await this.guests.lockCall(tx, visitor);
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const ended = rejectEnded(invite);
      if (ended) return ended;
      const found = await this.guests.lockSession(tx, visitor, invite);
      const guest = found?.role === 'guest' && hasSession(found, invite.now) ? found : null;
      if (!guest) return GuestErrors.noSession.with();
      const change = enterCall(invite, guest, await this.guests.places(tx, invite, guest));
      if (change instanceof ApiError) return change;
      const entered = await this.store(tx, invite, guest, change);
      return entered.state === 'waiting' ? new WaitingGuest() : entered;
    });
  }

  /** Ends a session, if it exists. @returns the guest, and the state before */
  async leave(visitor: Visitor): Promise<{ guest: Guest; before: GuestState } | null> {
    return this.settle(async (tx) => {
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const guest = await this.guests.lockSession(tx, visitor, invite);
      if (!guest) return null;
      await this.guests.update(tx, guest, leaveCall(guest, invite.now));
      return { guest, before: guest.state };
    });
  }

  /**
   * Locks the guest of a session for a write to the chat, and records that the guest is present.
   * @param bytes that the guest uploads
   * @throws ApiError 401, 403, 404, 410, 413
   */
  async writeToChat(tx: Tx, visitor: Visitor, bytes: number): Promise<{ guest: Guest; roomId: string }> {
    const invite = await this.guests.invite(tx, visitor);
    if (!invite) throw GuestErrors.inviteNotFound.with();
    const found = await this.guests.lockSession(tx, visitor, invite);
    const guest = found && hasSession(found, invite.now) ? found : null;
    const { state, chat_allowed } = invite;
    const rejection = rejectChat({
      state,
      chat_allowed,
      guest: guest && {
        role: guest.role,
        state: guest.state,
        isBanned: guest.is_banned,
        isAdmitted: guest.admitted_seq !== null,
      },
    });
    if (rejection || !guest) throw rejection ?? GuestErrors.noSession.with();
    const change = writeToChat(guest, bytes, invite.now);
    if (change instanceof ApiError) throw change;
    return { guest: await this.guests.update(tx, guest, change), roomId: invite.room_id as string };
  }

  /** Makes the owner of an address a viewer, after a check of the code. */
  async verifyViewer(visitor: Visitor, values: NewGuest & { email: string }, seconds: number): Promise<void> {
    await this.settle(async (tx) => {
      await this.guests.lockInvite(tx, visitor);
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const rejection = rejectFor(invite, 'viewer');
      if (rejection) return rejection;
      const invalid = await this.codes.check(tx, invite, 'livestream', values.email, values.codes ?? []);
      if (invalid) return invalid;
      const known = await this.guests.lockKnown(tx, invite, values.email);
      const facts = await this.guests.claimFacts(tx, invite, values.email, values.addressHash);
      const change = verifyViewer(invite, values, known, facts, this.policy(seconds));
      return change instanceof ApiError ? change : this.store(tx, invite, known, change);
    });
  }

  /** Gives a viewer a place in the audience. @param session hash of the token of a viewer; null: a new one */
  async joinAudience(
    visitor: Visitor,
    session: Buffer | null,
    values: NewGuest,
    seconds: number,
  ): Promise<{ viewer: Guest; isNew: boolean }> {
    return this.settle(async (tx) => {
      await this.guests.lockInvite(tx, visitor);
      await this.guests.lockCall(tx, visitor);
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const found = await this.guests.lockSession(tx, { ...visitor, session }, invite);
      const viewer = found?.role === 'viewer' && hasSession(found, invite.now) ? found : null;
      const places = await this.guests.places(tx, invite, viewer);
      const wanted = { ...values, hasToken: session !== null };
      const change = joinAudience(invite, viewer, places, wanted, this.policy(seconds));
      if (change instanceof ApiError) return change;
      return { viewer: await this.store(tx, invite, viewer, change), isNew: viewer === null };
    });
  }

  private policy(seconds: number): GuestPolicy {
    return { isOpen: this.codes.isOpen, seconds };
  }

  /** Uses the invite for a new guest, or changes a known one. @param guest null: `change` is a new row */
  private async store(
    tx: Tx,
    invite: InviteState,
    guest: Guest | null,
    change: GuestChange | NewGuestRow,
  ): Promise<Guest> {
    let stored: Guest;
    if ('invite_id' in change) {
      stored = await this.guests.insert(tx, invite, change);
    } else {
      const known = guest as Guest;
      if (change.token_hash) await this.guests.spendToken(tx, known);
      stored = await this.guests.update(tx, known, change);
    }
    if (change.waiting_since) await this.approvals.reportWaiting(tx, invite.tenant_id, stored.id);
    return stored;
  }

  /** @throws the error that `work` returns, after the commit */
  private async settle<T>(work: (tx: Tx) => Promise<T | ApiError>): Promise<T> {
    const result = await this.db.tx(work);
    if (result instanceof ApiError) throw result;
    return result;
  }
}
