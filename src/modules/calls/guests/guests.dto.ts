import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { defineError } from '../../../platform/http/errors.js';
import { exampleOf } from '../../../platform/resources/example.js';
import { ApprovalResponse } from './approvals/approvals.dto.js';

export class InvalidCodeResponse extends ErrorResponse {
  @ApiProperty({ enum: ['otp_invalid'], example: 'otp_invalid' }) override error!: 'otp_invalid';
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 4, example: 3 }) attempts_left!: number;
}

export class DomainNotAllowedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['domain_not_allowed'], example: 'domain_not_allowed' })
  override error!: 'domain_not_allowed';
  /** @example "partner.example" */ domain!: string;
  @ApiProperty({ enum: [true], example: true }) can_request!: true;
}

export class AlreadyReviewedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['already_reviewed'], example: 'already_reviewed' })
  override error!: 'already_reviewed';
  approval!: ApprovalResponse;
}

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
