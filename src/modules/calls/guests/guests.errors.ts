import { type ApiError, defineError, type ErrorKind } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { CallErrors } from '../calls.errors.js';
import { ApprovalResponse } from './approvals/approvals.response.js';
import { AlreadyReviewedResponse, DomainNotAllowedResponse, InvalidCodeResponse } from './guests.response.js';
import { exampleOf } from '../../../platform/resources/example.js';

export const GuestErrors = {
  inviteNotFound: defineError(404, 'invite_not_found', 'There is no such invite.'),
  inviteExpired: defineError(410, 'invite_expired', 'The invite has expired.'),
  inviteRevoked: defineError(410, 'invite_revoked', 'The invite is revoked.'),
  inviteExhausted: defineError(410, 'invite_exhausted', 'The invite is used up.'),
  callLocked: defineError(403, 'call_locked', 'The call is locked for guests.'),
  otherRole: defineError(403, 'wrong_invite', 'The invite is for another kind of guest.'),
  noSession: defineError(401, 'guest_session_required', 'A valid X-Guest-Session header is required.'),
  sessionReused: defineError(
    401,
    'session_reused',
    'The guest token was used before. All sessions of the guest have ended.',
  ),
  guestTokenInvalid: defineError(401, 'guest_token_invalid', 'The guest token is unknown.'),
  guestDenied: defineError(403, 'guest_denied', 'The host has not admitted the guest.'),
  guestRemoved: defineError(403, 'guest_removed', 'The guest was removed from the call.'),
  guestWaiting: defineError(403, 'guest_waiting', 'The guest waits for approval.'),
  chatOnly: defineError(403, 'chat_only', 'This link is for the chat only.'),
  chatNotAllowed: defineError(403, 'chat_not_allowed', 'The invite does not include a chat.'),
  uploadQuota: defineError(413, 'upload_quota_exceeded', 'A guest may upload at most 50 MiB.'),
  callNotLive: defineError(409, 'call_not_live', 'The call is not live.'),
  notLive: defineError(409, 'not_live', 'The livestream is not live.'),
  verificationRequired: defineError(
    403,
    'verification_required',
    'Verify an e-mail address first: POST livestream_verify/request.',
  ),
  livestreamFull: defineError(429, 'livestream_full', 'The livestream has the maximum number of viewers.'),
  codeInvalid: defineError(422, 'otp_invalid', 'The code is invalid or has expired.', {
    example: { attempts_left: 3 },
    type: InvalidCodeResponse,
  }),
  codeLocked: defineError(429, 'otp_locked', 'Too many invalid codes. Request a new one.'),
  domainNotAllowed: defineError(
    403,
    'domain_not_allowed',
    'The workspace does not allow guests of this domain.',
    { example: { domain: 'partner.example', can_request: true }, type: DomainNotAllowedResponse },
  ),
  alreadyReviewed: defineError(
    409,
    'already_reviewed',
    'The approval was decided; its state is in this response.',
    { example: { approval: exampleOf(ApprovalResponse) }, type: AlreadyReviewedResponse },
  ),
  approvalNotFound: defineError(404, 'not_found', 'You have no such approval.'),
  invitesNotFound: defineError(404, 'not_found', 'You have no such invite.'),
  roomNotFound: defineError(404, 'not_found', 'You have no such room.'),
  directRoom: defineError(422, 'direct_room', 'Guests cannot be invited to a direct room.'),
  noChatRoom: defineError(422, 'no_chat_room', 'The call of the invite has no chat room.'),
  invalidDomain: defineError(
    422,
    'invalid_domain',
    'Only a domain of another organisation can be requested.',
  ),
} as const;

/** Outcomes of the SQL functions for guests that reject a request. */
const REJECTIONS: Record<string, ErrorKind> = {
  not_found: GuestErrors.inviteNotFound,
  revoked: GuestErrors.inviteRevoked,
  expired: GuestErrors.inviteExpired,
  exhausted: GuestErrors.inviteExhausted,
  other_role: GuestErrors.otherRole,
  locked: GuestErrors.callLocked,
  no_session: GuestErrors.noSession,
  invalid: GuestErrors.guestTokenInvalid,
  reused: GuestErrors.sessionReused,
  removed: GuestErrors.guestRemoved,
  denied: GuestErrors.guestDenied,
  waiting: GuestErrors.guestWaiting,
  chat_only: GuestErrors.chatOnly,
  chat_not_allowed: GuestErrors.chatNotAllowed,
  quota: GuestErrors.uploadQuota,
  full: CallErrors.callFull,
  verification_required: GuestErrors.verificationRequired,
};

/** Result of an SQL function for guests: its outcome and further members. */
export interface GuestOutcome {
  outcome: string;
  /** Seconds until a retry. */
  wait?: number;
  attempts_left?: number;
}

/** The error of an outcome other than `ok`. */
export function rejectionOf({ outcome, wait = 0, attempts_left }: GuestOutcome): ApiError {
  const retry = { headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait))) } };
  if (outcome === 'limited') return Errors.tooManyRequests.with(retry);
  if (outcome === 'otp_locked') return GuestErrors.codeLocked.with(retry);
  if (outcome === 'otp_invalid') return GuestErrors.codeInvalid.with({ body: { attempts_left } });
  const kind = REJECTIONS[outcome];
  if (!kind) throw new Error(`unexpected outcome ${outcome}`);
  return kind.with();
}
