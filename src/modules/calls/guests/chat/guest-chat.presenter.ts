import { JsonReply } from '../../../../platform/http/json-reply.js';
import type { GuestMessageEnvelope } from './guest-chat.response.js';

/** @param isDuplicate an earlier request has sent the message */
export const guestMessageReply = (message: string, isDuplicate: boolean): JsonReply<GuestMessageEnvelope> =>
  JsonReply.ofTexts<GuestMessageEnvelope>({ message }, { status: isDuplicate ? 200 : 201 });
