import { JsonReply } from '../../../../platform/http/json-reply.js';
import type { InviteEnvelope, RevokedInviteEnvelope } from './invites.response.js';

export const inviteReply = (invite: string): JsonReply<InviteEnvelope> =>
  JsonReply.ofTexts<InviteEnvelope>({ invite });

export const revokedInviteReply = (invite: string): JsonReply<RevokedInviteEnvelope> =>
  JsonReply.ofTexts<RevokedInviteEnvelope, 'invite'>({ invite }, {}, { revoked: true });
