import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { ApprovalChanges } from './changes/approval-changes.js';
import { GuestCodes, type NewGuest } from './guest-codes.js';
import type { Guest, GuestState } from './guests.schema.js';
import { GuestErrors } from './guests.dto.js';
import { GuestsRepository } from './guests.repository.js';
import {
  continueGuest,
  endSessions,
  enterCall,
  firstState,
  fitsInvite,
  type GuestChange,
  hasSession,
  type InviteState,
  joinAudience,
  joinQueue,
  leaveCall,
  rejectChat,
  rejectEnded,
  rejectFor,
  renewSession,
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
      const invite = await this.guests.lockedInvite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const rejection = rejectFor(invite, 'guest');
      if (rejection) return rejection;
      const needsCode = invite.require_otp;
      const email = invite.kind === 'personal' && !needsCode ? invite.email : values.email;
      if (needsCode) {
        if (email === null || values.codes === null) return codeRequired(values);
        const invalid = await this.codes.check(tx, invite, 'join', email, values.codes);
        if (invalid) return invalid;
      }
      const isPersonal = invite.kind === 'personal';
      const known =
        isPersonal || needsCode ? await this.guests.lockKnown(tx, invite, email, isPersonal) : null;
      if (known?.state === 'removed') return GuestErrors.guestRemoved.with();
      if (email !== null && !(await this.fits(tx, invite, email))) return GuestErrors.guestRemoved.with();
      if (known && needsCode) {
        await this.guests.spendToken(tx, known);
        const change = continueGuest(known, values.name, invite.now);
        const guest = await this.guests.update(tx, known, {
          ...renewSession(values, invite.now, seconds),
          ...change,
        });
        if (change.state === 'waiting') await this.approvals.reportWaiting(tx, visitor.tenantId, guest.id);
        return guest;
      }
      if (known || invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
      // A removed guest without an address could claim the invite again, so a host decides about the next claims from this network.
      const state = firstState(invite, await this.guests.isSuspect(tx, invite, values.addressHash));
      const guest = await this.create(tx, invite, { ...values, email }, seconds, state);
      if (state === 'waiting') await this.approvals.reportWaiting(tx, visitor.tenantId, guest.id);
      return guest;
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
      if (guest?.state === 'removed') return GuestErrors.guestRemoved.with();
      if (guest) {
        await this.guests.spendToken(tx, guest);
        const hashes = { token_hash: next.token, session_hash: next.session };
        return this.guests.update(tx, guest, renewSession(hashes, invite.now, seconds));
      }
      const former = await this.guests.lockSpentToken(tx, invite, guestToken);
      if (!former) return GuestErrors.guestTokenInvalid.with();
      reused = await this.guests.update(tx, former, endSessions(former, randomBytes(32), invite.now));
      return GuestErrors.sessionReused.with();
    });
    if (reused) await onReuse(reused);
    if (result instanceof ApiError) throw result;
  }

  /** Gives an admitted guest a place in the call, or a place in the queue. */
  async enter(visitor: Visitor): Promise<Guest | WaitingGuest> {
    return this.settle<Guest | WaitingGuest>(async (tx) => {
      const invite = await this.guests.lockedCall(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const ended = rejectEnded(invite);
      if (ended) return ended;
      const found = await this.guests.lockSession(tx, visitor, invite);
      const guest = found?.role === 'guest' && hasSession(found, invite.now) ? found : null;
      if (!guest) return GuestErrors.noSession.with();
      const decision = enterCall(invite, guest, await this.guests.facts(tx, invite, guest));
      if (decision !== 'queue')
        return decision instanceof ApiError ? decision : this.guests.update(tx, guest, decision);
      const queued = joinQueue(guest, invite.now);
      if (queued instanceof ApiError) return queued;
      await this.guests.update(tx, guest, queued);
      if (queued.waiting_since) await this.approvals.reportWaiting(tx, visitor.tenantId, guest.id);
      return new WaitingGuest();
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
    const isBanned = guest !== null && (await this.guests.isGuestBanned(tx, invite, guest));
    const { state, chat_allowed } = invite;
    const rejection = rejectChat({
      state,
      chat_allowed,
      guest: guest && {
        role: guest.role,
        state: guest.state,
        isBanned,
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
      const invite = await this.guests.lockedInvite(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const rejection = rejectFor(invite, 'viewer');
      if (rejection) return rejection;
      const invalid = await this.codes.check(tx, invite, 'livestream', values.email, values.codes ?? []);
      if (invalid) return invalid;
      const viewer = await this.guests.lockKnown(tx, invite, values.email);
      if (viewer?.state === 'removed' || !(await this.fits(tx, invite, values.email)))
        return GuestErrors.guestRemoved.with();
      const emailVerifiedAt = invite.now;
      if (viewer) {
        await this.guests.spendToken(tx, viewer);
        const change = { ...renewSession(values, invite.now, seconds), email_verified_at: emailVerifiedAt };
        return this.guests.update(tx, viewer, change);
      }
      if (invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
      return this.create(tx, invite, values, seconds, 'admitted', { email_verified_at: emailVerifiedAt });
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
      await this.guests.lockedInvite(tx, visitor);
      const invite = await this.guests.lockedCall(tx, visitor);
      if (!invite) return GuestErrors.inviteNotFound.with();
      const found = await this.guests.lockSession(tx, { ...visitor, session }, invite);
      const viewer = found?.role === 'viewer' && hasSession(found, invite.now) ? found : null;
      const facts = await this.guests.facts(tx, invite, viewer);
      const change = joinAudience(invite, viewer, facts, session !== null);
      if (change instanceof ApiError) return change;
      if (viewer) return { viewer: await this.guests.update(tx, viewer, change), isNew: false };
      const created = { ...values, email: null };
      return { viewer: await this.create(tx, invite, created, seconds, 'in_session', change), isNew: true };
    });
  }

  private async fits(tx: Tx, invite: InviteState, email: string): Promise<boolean> {
    return fitsInvite(invite, email, await this.guests.addressFacts(tx, invite, email), this.codes.isOpen);
  }

  /** Uses the invite for a new guest or viewer. */
  private async create(
    tx: Tx,
    invite: InviteState,
    { id, name, email, addressHash, userAgent, ...hashes }: NewGuest,
    seconds: number,
    state: GuestState,
    change: GuestChange = {},
  ): Promise<Guest> {
    await this.guests.countUse(tx, invite);
    return this.guests.insert(tx, {
      tenant_id: invite.tenant_id,
      id,
      invite_id: invite.id,
      call_id: invite.call_id,
      room_id: invite.room_id,
      role: invite.role,
      display_name: name,
      email,
      email_verified_at: invite.require_otp ? invite.now : null,
      ...renewSession(hashes, invite.now, seconds),
      waiting_since: state === 'waiting' ? invite.now : null,
      // Messages before the admission stay hidden.
      admitted_seq: state === 'waiting' ? null : invite.last_seq,
      address_hash: addressHash,
      user_agent: userAgent,
      ...change,
      state,
    });
  }

  /** @throws the error that `work` returns, after the commit */
  private async settle<T>(work: (tx: Tx) => Promise<T | ApiError>): Promise<T> {
    const result = await this.db.tx(work);
    if (result instanceof ApiError) throw result;
    return result;
  }
}

/** 422 for a claim without the address or the code that the invite requires. */
function codeRequired({ email, codes }: NewGuest): ApiError {
  const missing = [...(email === null ? ['email'] : []), ...(codes === null ? ['code'] : [])];
  const details = missing.map((field) => ({ field, code: 'required', message: `${field} is required` }));
  return Errors.validationFailed.with({ details });
}
