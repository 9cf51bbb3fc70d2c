import type { ApiError } from '../../../../platform/http/errors.js';
import { CallErrors } from '../../calls.dto.js';
import type { CallKind, CallState } from '../../calls.schema.js';
import { GuestErrors } from '../guests.dto.js';
import type { Guest, GuestState } from '../guests.schema.js';

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

/** What a rule changes in the row of a guest. */
export type GuestChange = Partial<Guest>;

/** What the database knows about a guest beside their row. */
export interface GuestFacts {
  /** The call has a ban for the guest or their address. */
  isBanned: boolean;
  /** Places of the call that others have. */
  places: number;
}

/** Requests of a denied guest for a decision. */
const MAX_REQUESTS = 3;
/** Seconds after a denial until the next request. */
const PAUSE_SECONDS = 60;
const GUEST_UPLOADS = 50 * 1024 * 1024;

/** States in which a guest was admitted. */
const ADMITTED: ReadonlySet<GuestState> = new Set(['admitted', 'in_session', 'left']);

export const secondsAfter = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);

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

/**
 * Whether an address may use an invite.
 * @param domain the decision of the workspace about the domain of the address
 * @param isOpen domains are allowed unless the workspace has denied them
 */
export function fitsInvite(
  invite: Pick<InviteState, 'kind' | 'email'>,
  email: string,
  { domain, isBanned }: { domain: 'requested' | 'allowed' | 'denied' | undefined; isBanned: boolean },
  isOpen: boolean,
): boolean {
  if (invite.kind === 'personal' && invite.email !== email) return false;
  const isAllowed = domain === undefined || domain === 'requested' ? isOpen : domain === 'allowed';
  return isAllowed && !isBanned;
}

/** Gives a guest a new token and a new session; the session is valid for `seconds`. */
export const renewSession = (
  { token_hash, session_hash }: Pick<Guest, 'token_hash' | 'session_hash'>,
  now: Date,
  seconds: number,
): GuestChange => ({
  token_hash,
  session_hash,
  session_expires_at: secondsAfter(now, seconds),
  active_at: now,
  updated_at: now,
});

/** A guest who has proved the address again, on this or another device. An expired one joins the queue again. */
export const continueGuest = (
  { state }: Pick<Guest, 'state'>,
  displayName: string,
  now: Date,
): GuestChange => ({
  display_name: displayName,
  email_verified_at: now,
  ...(state === 'expired' && { state: 'waiting', waiting_since: now }),
});

/** The state of a new guest. @param isSuspect a guest of this network was removed from the invite, or denied */
export const firstState = (
  { require_approval }: Pick<InviteState, 'require_approval'>,
  isSuspect: boolean,
): GuestState => (require_approval || isSuspect ? 'waiting' : 'admitted');

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

/**
 * Whether a guest may get a token of the call now.
 * @returns the changes; `queue`: the guest waits, or may return to the queue
 */
export function enterCall(
  invite: InviteState,
  guest: Pick<Guest, 'state'>,
  { isBanned, places }: GuestFacts,
): ApiError | 'queue' | GuestChange {
  if (guest.state === 'removed' || isBanned) return GuestErrors.guestRemoved.with();
  if (invite.is_chat_link) return GuestErrors.chatOnly.with();
  if (guest.state === 'waiting' || guest.state === 'expired' || guest.state === 'denied') return 'queue';
  const rejection = rejectFor(invite, 'guest');
  if (rejection) return rejection;
  if (invite.call_state !== 'live') return GuestErrors.callNotLive.with();
  if (invite.max_guests !== null && places >= invite.max_guests) return CallErrors.callFull.with();
  return takePlace(invite);
}

/** A guest or viewer with a place in the call. */
export const takePlace = ({ call_id, now }: Pick<InviteState, 'call_id' | 'now'>): GuestChange => ({
  state: 'in_session',
  call_id,
  active_at: now,
  token_at: now,
  updated_at: now,
});

/** Puts a guest into the queue. An expired guest waits again; a denied guest may do so after a pause, a few times. */
export function joinQueue(
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

/**
 * Gives a viewer a place in the audience of a livestream.
 * @param viewer of the session; null: a new viewer, who needs no verification
 * @param hasToken the request has the token of a viewer
 */
export function joinAudience(
  invite: InviteState,
  viewer: Pick<Guest, 'state'> | null,
  { isBanned, places }: GuestFacts,
  hasToken: boolean,
): ApiError | GuestChange {
  const rejection = rejectFor(invite, 'viewer');
  if (rejection) return rejection;
  if (!viewer && (invite.require_otp || hasToken)) return GuestErrors.verificationRequired.with();
  if (viewer && (viewer.state === 'removed' || isBanned)) return GuestErrors.guestRemoved.with();
  if (invite.call_state !== 'live' || invite.call_kind !== 'livestream') return GuestErrors.notLive.with();
  if (!viewer && invite.uses >= invite.max_uses) return GuestErrors.inviteExhausted.with();
  if (invite.max_viewers !== null && places >= invite.max_viewers) return GuestErrors.livestreamFull.with();
  return takePlace(invite);
}

/** A decision about a waiting guest. */
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
): 'unchanged' | 'already_reviewed' | GuestChange {
  if (guest.state !== 'waiting') {
    const isDecided = admits ? ADMITTED.has(guest.state) : guest.state === 'denied';
    return isDecided && guest.decided_by !== null ? 'unchanged' : 'already_reviewed';
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

/** Wrong codes until the next one has to wait for another mail. */
export const CODE_ATTEMPTS = 5;
/** Lifetime of a code, and of the lock after too many wrong ones. */
export const CODE_SECONDS = 600;

/** A limit of requests in a sliding window. */
export interface WindowLimit {
  scope: string;
  subject: Buffer;
  max: number;
  seconds: number;
}

/**
 * Counts one request against each limit. If one limit rejects it, no limit counts it.
 * @param counted times of the requests of each limit
 * @returns the times to store, and the seconds until a retry; 0 means that the request is counted
 */
export function countRequest(
  limits: readonly WindowLimit[],
  counted: readonly (readonly Date[])[],
  now: Date,
): { wait: number; times: Date[][] } {
  const recent = limits.map(({ seconds }, n) =>
    (counted[n] ?? []).filter((time) => secondsAfter(time, seconds) > now),
  );
  const waits = limits.map(({ max, seconds }, n) => {
    const times = recent[n]!;
    if (times.length < max) return 0;
    const oldest = times[times.length - max];
    return oldest ? (secondsAfter(oldest, seconds).getTime() - now.getTime()) / 1_000 : seconds;
  });
  const wait = Math.max(0, ...waits);
  return { wait, times: recent.map((times) => (wait > 0 ? times : [...times, now])) };
}
