import { JsonReply } from '../../../platform/http/json-reply.js';
import type { MessagePage } from './messages.repository.js';
import type {
  ChatMessageEnvelope,
  ChatMessageListEnvelope,
  SentChatMessageEnvelope,
} from './messages.dto.js';

export const messageReply = ({ message }: { message: string }): JsonReply<ChatMessageEnvelope> =>
  JsonReply.ofTexts<ChatMessageEnvelope>({ message });

/** @param sent `changed`: the request has sent the message; otherwise an earlier one */
export const sentMessageReply = ({
  message,
  changed,
}: {
  message: string;
  changed: boolean;
}): JsonReply<SentChatMessageEnvelope> =>
  JsonReply.ofTexts<SentChatMessageEnvelope, 'message'>(
    { message },
    { status: changed ? 201 : 200 },
    { duplicate: !changed },
  );

export const messagesReply = ({
  messages,
  hasMore,
  last_seq,
  mod_seq,
}: MessagePage): JsonReply<ChatMessageListEnvelope> =>
  JsonReply.listOf<ChatMessageListEnvelope>('messages', messages, {
    has_more: hasMore,
    room: { last_seq, mod_seq },
  });
