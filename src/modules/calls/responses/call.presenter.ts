import { JsonReply } from '../../../platform/http/json-reply.js';
import type { CallEnvelope, CallRoomEnvelope } from '../calls.dto.js';
import type { ApprovalEnvelope } from '../guests/approvals/approvals.dto.js';
import type { GuestMessageEnvelope } from '../guests/chat/guest-chat.dto.js';
import type { InviteEnvelope, RevokedInviteEnvelope } from '../guests/invites/invites.dto.js';

// The view call_views makes the JSON of calls; these functions add the envelopes.

export const callReply = (call: string): JsonReply<CallEnvelope> => JsonReply.ofTexts<CallEnvelope>({ call });

export const callRoomReply = (
  room: string,
  options: { status: 200 | 201; location?: string },
): JsonReply<CallRoomEnvelope> => JsonReply.ofTexts<CallRoomEnvelope>({ room }, options);

export const approvalReply = (approval: string): JsonReply<ApprovalEnvelope> =>
  JsonReply.ofTexts<ApprovalEnvelope>({ approval });

/** @param isDuplicate an earlier request has sent the message */
export const guestMessageReply = (message: string, isDuplicate: boolean): JsonReply<GuestMessageEnvelope> =>
  JsonReply.ofTexts<GuestMessageEnvelope>({ message }, { status: isDuplicate ? 200 : 201 });

export const inviteReply = (invite: string): JsonReply<InviteEnvelope> =>
  JsonReply.ofTexts<InviteEnvelope>({ invite });

export const revokedInviteReply = (invite: string): JsonReply<RevokedInviteEnvelope> =>
  JsonReply.ofTexts<RevokedInviteEnvelope, 'invite'>({ invite }, {}, { revoked: true });
