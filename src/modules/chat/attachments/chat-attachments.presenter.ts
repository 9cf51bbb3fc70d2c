import { JsonReply } from '../../../platform/http/json-reply.js';
import type { ChatAttachmentEnvelope } from './chat-attachments.response.js';

/** 201 `{ attachment }`. */
export const newAttachmentReply = (id: string, attachment: string): JsonReply<ChatAttachmentEnvelope> =>
  JsonReply.ofTexts<ChatAttachmentEnvelope>(
    { attachment },
    { status: 201, location: `/apis/v1/chat/attachments/${id}` },
  );
