import { v7 as uuidv7 } from 'uuid';
import type { MessageOrigin, ChatMessage } from '../chat.entity.js';

/** A message as its sender wrote it. */
export interface MessageInput {
  id: string;
  client_msg_id: string;
  /** Hexadecimal. */
  fingerprint: string;
  body: string;
  format: string;
  reply_to: string | null;
  mentions: string[];
  /** Ids. */
  attachments: string[];
  /** The incoming webhook that has posted it. */
  via: MessageOrigin | null;
  /** Text form of the tsvector of the body. */
  tsv: string;
}

/** The columns of a message that is added to a room. The room gives it its numbers and its time. */
export interface NewMessage extends Pick<
  ChatMessage,
  'id' | 'sender_id' | 'guest_name' | 'via' | 'client_msg_id' | 'kind' | 'body' | 'event' | 'reply_to' | 'tsv'
> {
  /** Hexadecimal. */
  fingerprint: string | null;
  format: string;
  reply_to_seq: number | null;
  mentions: readonly string[];
  attachments: readonly object[];
}

/** The message that reports a change of the room or a step of a call. */
export const reportMessage = (senderId: string, kind: 'system' | 'call', event: object): NewMessage => ({
  id: uuidv7(),
  sender_id: senderId,
  guest_name: null,
  via: null,
  client_msg_id: null,
  fingerprint: null,
  kind,
  body: '',
  format: 'plain',
  event,
  reply_to: null,
  reply_to_seq: null,
  mentions: [],
  attachments: [],
  tsv: '',
});
