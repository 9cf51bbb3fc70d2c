import { JsonReply } from '../../../platform/http/json-reply.js';
import type { CallEnvelope, CallRoomEnvelope } from '../calls.dto.js';

// The view call_views makes the JSON of calls; these functions add the envelopes.

export const callReply = (call: string): JsonReply<CallEnvelope> => JsonReply.ofTexts<CallEnvelope>({ call });

export const callRoomReply = (
  room: string,
  options: { status: 200 | 201; location?: string },
): JsonReply<CallRoomEnvelope> => JsonReply.ofTexts<CallRoomEnvelope>({ room }, options);
