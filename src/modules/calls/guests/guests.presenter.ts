import { JsonReply } from '../../../platform/http/json-reply.js';
import type { ApprovalEnvelope } from './approvals/approvals.dto.js';
import type { GuestMessageEnvelope } from './chat/guest-chat.dto.js';
import type { InviteEnvelope, RevokedInviteEnvelope } from './invites/invites.dto.js';

export const approvalReply = (approval: string): JsonReply<ApprovalEnvelope> =>
  JsonReply.ofTexts<ApprovalEnvelope>({ approval });

/** @param isDuplicate an earlier request has sent the message */
export const guestMessageReply = (message: string, isDuplicate: boolean): JsonReply<GuestMessageEnvelope> =>
  JsonReply.ofTexts<GuestMessageEnvelope>({ message }, { status: isDuplicate ? 200 : 201 });

export const inviteReply = (invite: string): JsonReply<InviteEnvelope> =>
  JsonReply.ofTexts<InviteEnvelope>({ invite });

export const revokedInviteReply = (invite: string): JsonReply<RevokedInviteEnvelope> =>
  JsonReply.ofTexts<RevokedInviteEnvelope, 'invite'>({ invite }, {}, { revoked: true });
