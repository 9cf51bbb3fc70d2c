import { type ApiError, type ErrorKind, Errors } from '../../../../platform/http/errors.js';
import { CallErrors } from '../../calls.dto.js';
import type { CallKind, CallState } from '../../calls.schema.js';
import { GuestErrors } from '../guests.dto.js';
import type { Guest, GuestDomain, GuestState } from '../guests.schema.js';
import { secondsAfter } from './code-rules.js';

/** The rules of guests and viewers: functions of locked rows and the time of the database, which return changes or an error. */

/** An invite with its call, its room and its current state (view `guest_invite_states`). */
export interface InviteState {
  id: string;
  tenant_id: string;
  kind: 'personal' | 'link';
  target_kind: 'call' | 'chat_room';
  role: 'guest' | 'viewer';
  /** The address of a personal invite. */
  email: string | null;
  state: 'active' | 'expired' | 'revoked' | 'exhausted';
  title: string;
  starts_at: Date | null;
  require_otp: boolean;
  require_approval: boolean;
  chat_allowed: boolean;
  uses: number;
  max_uses: number;
  call_id: string | null;
  call_kind: CallKind | null;
  call_state: CallState | null;
  locked: boolean;
  max_guests: number | null;
  max_viewers: number | null;
  room_id: string | null;
  /** Number of the last message of the room. */
  last_seq: string | null;
  /** The token is that of the chat link of the invite. */
  is_chat_link: boolean;
  /** Time of the transaction. */
  now: Date;
}

/** Columns of a guest that the guest's own requests change. */
export const CHANGED_COLUMNS = [
  'state',
  'call_id',
  'display_name',
  'email_verified_at',
  'token_hash',
  'session_hash',
  'session_expires_at',
  'requests',
  'waiting_since',
  'active_at',
  'token_at',
  'upload_bytes',
  'updated_at',
] as const;

/** What a rule changes in the row of a guest. */
export type GuestChange = Partial<Pick<Guest, (typeof CHANGED_COLUMNS)[number]>>;

/** Columns of a new guest; the others have defaults. */
export const NEW_COLUMNS = [
  'id',
  'invite_id',
  'call_id',
  'room_id',
  'role',
  'state',
  'display_name',
  'email',
  'email_verified_at',
  'token_hash',
  'session_hash',
  'session_expires_at',
  'waiting_since',
  'active_at',
  'token_at',
  'admitted_seq',
  'address_hash',
  'user_agent',
  'updated_at',
] as const;

/** A new guest or viewer, who uses the invite. */
export type NewGuestRow = Pick<Guest, (typeof NEW_COLUMNS)[number]>;

/** The guest or viewer of a session. */
export interface SessionGuest extends Guest {
  /** The call has a ban for the guest or their address. */
  is_banned: boolean;
}

/** What the database knows about an address and a network that claim an invite. */
export interface ClaimFacts {
  /** The decision of the workspace about the domain of the address; null without one, and without an address. */
  domain: GuestDomain['state'] | null;
  /** The call has a ban for the address. */
  is_banned: boolean;
  /** A guest from the network was removed from the invite, or denied. */
  is_suspect: boolean;
}

/** Fields of a new guest. */
export interface NewGuest {
  id: string;
  name: string;
  email: string | null;
  /** Hashes of the code by each key; null without a code. */
  codes: Buffer[] | null;
  token_hash: Buffer;
  session_hash: Buffer;
  addressHash: Buffer;
  userAgent: string | null;
}

/** Settings that the rules depend on. */
export interface GuestPolicy {
  /** Domains are allowed unless the workspace has denied them. */
  isOpen: boolean;
  /** Seconds of a new session. */
  seconds: number;
}

/** Requests of a denied guest for a decision. */
const MAX_REQUESTS = 3;
/** Seconds after a denial until the next request. */
const PAUSE_SECONDS = 60;
const GUEST_UPLOADS = 50 * 1024 * 1024;
/** Seconds in which a guest keeps a place after the issue of a token, and viewers a session without a connection. */
export const PLACE_SECONDS = 150;

/** States in which a guest was admitted. */
const ADMITTED: ReadonlySet<GuestState> = new Set(['admitted', 'in_session', 'left']);

/** The rejection of everything that an invite is for, when it has ended. */
export function rejectEnded({ state }: Pick<InviteState, 'state'>): ApiError | null {
  if (state === 'revoked') return GuestErrors.inviteRevoked.with();
  return state === 'expired' ? GuestErrors.inviteExpired.with() : null;
}

/** The rejection of requests for codes, sessions and tokens. */
export function rejectFor(
  invite: Pick<InviteState, 'state' | 'role' | 'locked'>,
  role: InviteState['role'],
): ApiError | null {
  const ended = rejectEnded(invite);
  if (ended) return ended;
  if (invite.role !== role) return GuestErrors.otherRole.with();
  return invite.locked ? GuestErrors.callLocked.with() : null;
}

/** Whether an address may use an invite. */
export function fitsInvite(
  invite: Pick<InviteState, 'kind' | 'email'>,
  email: string,
  { domain, is_banned }: Pick<ClaimFacts, 'domain' | 'is_banned'>,
  policy: Pick<GuestPolicy, 'isOpen'>,
): boolean {
  if (invite.kind === 'personal' && invite.email !== email) return false;
  return allowsDomain(domain, policy) && !is_banned;
}

/** Whether guests with addresses of a domain are allowed. @param state the decision of the workspace; null without one */
export const allowsDomain = (
  state: GuestDomain['state'] | null,
  { isOpen }: Pick<GuestPolicy, 'isOpen'>,
): boolean => (state === null || state === 'requested' ? isOpen : state === 'allowed');

/** The address of a claim. A personal invite without a code is for its own address. */
export const addressOf = (
  invite: Pick<InviteState, 'kind' | 'require_otp' | 'email'>,
  { email }: Pick<NewGuest, 'email'>,
): string | null => (invite.kind === 'personal' && !invite.require_otp ? invite.email : email);

/** The rejection of a claim before its code is compared. */
export function rejectClaim(invite: InviteState, values: Pick<NewGuest, 'email' | 'codes'>): ApiError | null {
  const rejection = rejectFor(invite, 'guest');
  if (rejection || !invite.require_otp) return rejection;
  const missing = (['email', 'codes'] as const).filter((name) => values[name] === null);
  if (missing.length === 0) return null;
  const fields = missing.map((name) => (name === 'codes' ? 'code' : name));
  const details = fields.map((field) => ({ field, code: 'required', message: `${field} is required` }));
  return Errors.validationFailed.with({ details });
}

/**
 * Makes the bearer of an invite a guest, or continues as a known one. A code that the invite requires was correct.
 * @param known the guest of a personal invite, or the one with the same verified address
 */
export function claimInvite(
  invite: InviteState,
  values: NewGuest,
  known: Guest | null,
  facts: ClaimFacts,
  policy: GuestPolicy,
): ApiError | GuestChange | NewGuestRow {
  const email = addressOf(invite, values);
  if (known?.state === 'removed' || (email !== null && !fitsInvite(invite, email, facts, policy)))
    return GuestErrors.guestRemoved.with();
  if (known && invite.require_otp)
    return {
      ...renewSession(values, invite.now, policy),
      ...continueGuest(known, values.name, invite.now),
    };
  if (known || invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
  // A removed guest without an address could claim the invite again, so a host decides about the next claims from this network.
  const state = invite.require_approval || facts.is_suspect ? 'waiting' : 'admitted';
  return makeGuest(invite, { ...values, email }, state, policy);
}

const makeGuest = (
  invite: InviteState,
  { id, name, email, addressHash, userAgent, ...hashes }: NewGuest,
  state: GuestState,
  policy: Pick<GuestPolicy, 'seconds'>,
): NewGuestRow => ({
  id,
  invite_id: invite.id,
  call_id: invite.call_id,
  room_id: invite.room_id,
  role: invite.role,
  state,
  display_name: name,
  email,
  email_verified_at: invite.require_otp ? invite.now : null,
  ...renewSession(hashes, invite.now, policy),
  waiting_since: state === 'waiting' ? invite.now : null,
  token_at: null,
  // Messages before the admission stay hidden.
  admitted_seq: state === 'waiting' ? null : invite.last_seq,
  address_hash: addressHash,
  user_agent: userAgent,
});

/** Gives a guest a new token and a new session. */
const renewSession = (
  { token_hash, session_hash }: Pick<Guest, 'token_hash' | 'session_hash'>,
  now: Date,
  { seconds }: Pick<GuestPolicy, 'seconds'>,
) => ({
  token_hash,
  session_hash,
  session_expires_at: secondsAfter(now, seconds),
  active_at: now,
  updated_at: now,
});

/** A guest who has proved the address again, on this or another device. An expired one joins the queue again. */
const continueGuest = ({ state }: Pick<Guest, 'state'>, displayName: string, now: Date): GuestChange => ({
  display_name: displayName,
  email_verified_at: now,
  ...(state === 'expired' && { state: 'waiting', waiting_since: now }),
});

/** Replaces the token and the session of a guest. @param guest of the token; null: no guest has it */
export function renewGuest(
  guest: Pick<Guest, 'state'> | null,
  hashes: Pick<Guest, 'token_hash' | 'session_hash'>,
  now: Date,
  policy: Pick<GuestPolicy, 'seconds'>,
): ApiError | GuestChange {
  if (!guest) return GuestErrors.guestTokenInvalid.with();
  return guest.state === 'removed' ? GuestErrors.guestRemoved.with() : renewSession(hashes, now, policy);
}

/** Ends all sessions of a guest whose token was used twice. @param tokenHash random: no issued token has it */
export const endSessions = ({ state }: Pick<Guest, 'state'>, tokenHash: Buffer, now: Date): GuestChange => ({
  token_hash: tokenHash,
  session_hash: null,
  session_expires_at: null,
  updated_at: now,
  ...(state === 'in_session' && { state: 'left' }),
});

/** Whether the session of a guest is valid, or its guest was removed, which the guest may know. */
export const hasSession = (
  { state, session_expires_at }: Pick<Guest, 'state' | 'session_expires_at'>,
  now: Date,
): boolean => state === 'removed' || (session_expires_at !== null && session_expires_at > now);

/** Gives an admitted guest a place in the call, any other one a place in the queue. @param places that others have */
export function enterCall(
  invite: InviteState,
  guest: Pick<SessionGuest, 'state' | 'requests' | 'decided_at' | 'is_banned'>,
  places: number,
): ApiError | GuestChange {
  if (guest.state === 'removed' || guest.is_banned) return GuestErrors.guestRemoved.with();
  if (invite.is_chat_link) return GuestErrors.chatOnly.with();
  if (guest.state === 'waiting' || guest.state === 'expired' || guest.state === 'denied')
    return joinQueue(guest, invite.now);
  const rejection = rejectFor(invite, 'guest');
  if (rejection) return rejection;
  if (invite.call_state !== 'live') return GuestErrors.callNotLive.with();
  if (invite.max_guests !== null && places >= invite.max_guests) return CallErrors.callFull.with();
  return takePlace(invite);
}

/** A guest or viewer with a place in the call. */
const takePlace = ({ call_id, now }: Pick<InviteState, 'call_id' | 'now'>) => ({
  state: 'in_session' as const,
  call_id,
  active_at: now,
  token_at: now,
  updated_at: now,
});

/** An expired guest waits again; a denied guest may do so after a pause, a few times. */
function joinQueue(
  guest: Pick<Guest, 'state' | 'requests' | 'decided_at'>,
  now: Date,
): ApiError | GuestChange {
  const isDenied = guest.state === 'denied';
  const isEarly = guest.decided_at !== null && secondsAfter(guest.decided_at, PAUSE_SECONDS) > now;
  if (isDenied && (guest.requests >= MAX_REQUESTS || isEarly)) return GuestErrors.guestDenied.with();
  return {
    state: 'waiting',
    active_at: now,
    updated_at: now,
    ...(isDenied && { requests: guest.requests + 1 }),
    ...(guest.state !== 'waiting' && { waiting_since: now }),
  };
}

/** Ends the session of a guest. A waiting guest leaves the queue. */
export function leaveCall(
  { state, session_expires_at }: Pick<Guest, 'state' | 'session_expires_at'>,
  now: Date,
): GuestChange {
  const isExpired = session_expires_at !== null && session_expires_at < now;
  return {
    updated_at: now,
    ...(!isExpired && { session_expires_at: now }),
    ...((state === 'admitted' || state === 'in_session') && { state: 'left' }),
    ...(state === 'waiting' && { state: 'expired' }),
  };
}

/** What the access of a guest to the chat depends on. */
export interface ChatFacts extends Pick<InviteState, 'state' | 'chat_allowed'> {
  /** Null without a session. */
  guest: { role: InviteState['role']; state: GuestState; isBanned: boolean; isAdmitted: boolean } | null;
}

/** The rejection of a use of the chat. */
export function rejectChat({ guest, ...invite }: ChatFacts): ApiError | null {
  const ended = rejectEnded(invite);
  if (ended) return ended;
  if (!guest) return GuestErrors.noSession.with();
  if (guest.state === 'removed' || guest.isBanned) return GuestErrors.guestRemoved.with();
  if (guest.state === 'denied') return GuestErrors.guestDenied.with();
  if (guest.state === 'waiting' || guest.state === 'expired') return GuestErrors.guestWaiting.with();
  return guest.role === 'guest' && invite.chat_allowed && guest.isAdmitted
    ? null
    : GuestErrors.chatNotAllowed.with();
}

/** A guest writes to the chat. @param bytes of a file that they upload */
export function writeToChat(
  { upload_bytes }: Pick<Guest, 'upload_bytes'>,
  bytes: number,
  now: Date,
): ApiError | GuestChange {
  const total = Number(upload_bytes) + bytes;
  if (total > GUEST_UPLOADS) return GuestErrors.uploadQuota.with();
  return { upload_bytes: String(total), active_at: now, state: 'in_session' };
}

/** Makes the owner of an address, whose code was correct, a viewer. @param known the viewer with this address */
export function verifyViewer(
  invite: InviteState,
  values: NewGuest & { email: string },
  known: Pick<Guest, 'state'> | null,
  facts: ClaimFacts,
  policy: GuestPolicy,
): ApiError | GuestChange | NewGuestRow {
  if (known?.state === 'removed' || !fitsInvite(invite, values.email, facts, policy))
    return GuestErrors.guestRemoved.with();
  const verified = { email_verified_at: invite.now };
  if (known) return { ...renewSession(values, invite.now, policy), ...verified };
  if (invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
  return { ...makeGuest(invite, values, 'admitted', policy), ...verified };
}

/**
 * Gives a viewer a place in the audience of a livestream.
 * @param viewer of the session; null: a new viewer, who needs no verification
 * @param places that others have
 * @param values of a new viewer; `hasToken`: the request has the token of a viewer
 */
export function joinAudience(
  invite: InviteState,
  viewer: Pick<SessionGuest, 'state' | 'is_banned'> | null,
  places: number,
  { hasToken, ...values }: NewGuest & { hasToken: boolean },
  policy: Pick<GuestPolicy, 'seconds'>,
): ApiError | GuestChange | NewGuestRow {
  const rejection = rejectFor(invite, 'viewer');
  if (rejection) return rejection;
  if (!viewer && (invite.require_otp || hasToken)) return GuestErrors.verificationRequired.with();
  if (viewer && (viewer.state === 'removed' || viewer.is_banned)) return GuestErrors.guestRemoved.with();
  if (invite.call_state !== 'live' || invite.call_kind !== 'livestream') return GuestErrors.notLive.with();
  if (!viewer && invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
  if (invite.max_viewers !== null && places >= invite.max_viewers) return GuestErrors.livestreamFull.with();
  const place = takePlace(invite);
  return viewer
    ? place
    : { ...makeGuest(invite, { ...values, email: null }, 'in_session', policy), ...place };
}

/** A decision about a guest in the queue, or about a domain. */
export interface Decision {
  admits: boolean;
  reason: string;
  /** A denied guest may not ask again. */
  remember: boolean;
  userId: string;
  now: Date;
}

/**
 * @param lastSeq of the room: messages before the first admission stay hidden
 * @returns `unchanged`: the guest has this decision already
 */
export function reviewGuest(
  guest: Pick<Guest, 'state' | 'decided_by' | 'admitted_seq'>,
  { admits, reason, remember, userId, now }: Decision,
  lastSeq: string | null,
): ErrorKind | 'unchanged' | Partial<Guest> {
  if (guest.state !== 'waiting') {
    const isDecided = admits ? ADMITTED.has(guest.state) : guest.state === 'denied';
    return isDecided && guest.decided_by !== null ? 'unchanged' : GuestErrors.alreadyReviewed;
  }
  return {
    state: admits ? 'admitted' : 'denied',
    decided_by: userId,
    decided_at: now,
    decision_reason: reason,
    updated_at: now,
    ...(remember && !admits && { requests: MAX_REQUESTS }),
    admitted_seq: admits ? (guest.admitted_seq ?? lastSeq) : null,
  };
}

/** @returns `unchanged`: the domain has this decision already */
export function reviewDomain(
  { state }: Pick<GuestDomain, 'state'>,
  { admits, userId, now }: Pick<Decision, 'admits' | 'userId' | 'now'>,
): ErrorKind | 'unchanged' | Partial<GuestDomain> {
  const decided = admits ? 'allowed' : 'denied';
  if (state === decided) return 'unchanged';
  if (state !== 'requested') return GuestErrors.alreadyReviewed;
  return { state: decided, reviewed_by: userId, reviewed_at: now };
}
