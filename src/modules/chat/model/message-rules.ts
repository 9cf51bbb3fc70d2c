import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { hasVisibleCharacter } from '../../../lib/text/index.js';
import { type ApiError, Errors, fieldError } from '../../../platform/http/errors.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { quotaExceeded } from '../../../platform/quotas/row-quota.js';
import { ChatErrors } from '../chat.dto.js';
import {
  CHAT_ROLES,
  type ChatMember,
  type ChatMessage,
  type ChatRole,
  type MessageOrigin,
} from '../chat.schema.js';

export const atLeast = (role: ChatRole | null, needed: ChatRole): boolean =>
  role !== null && CHAT_ROLES.indexOf(role) >= CHAT_ROLES.indexOf(needed);

/** A reaction of a message as it is stored and shown. */
export interface Reaction {
  emoji: string;
  count: number;
  user_ids: string[];
}

/** Selectors of the presentation, which some clients send with an emoji. */
const PRESENTATION = /[\uFE0E\uFE0F]/gu;

/** What makes two reactions the same: clients send names in any case and form of Unicode. */
export const emojiKey = (emoji: string): string =>
  emoji.replace(PRESENTATION, '').normalize('NFC').toLowerCase().normalize('NFC');

/**
 * The reactions of a message after a user has added or removed one, in the order of the first use. An emoji keeps the form of its
 * first use. Joins stored reactions that are the same, which earlier versions counted separately.
 */
export function changeReactions(
  stored: readonly Reaction[],
  userId: string,
  { emoji, on }: { emoji: string; on: boolean },
): Reaction[] {
  const changed = emojiKey(emoji);
  const uses = stored.flatMap(({ emoji: shown, user_ids }) =>
    user_ids.map((user) => ({ key: emojiKey(shown), emoji: shown, user })),
  );
  const kept = uses.filter(({ key, user }) => on || key !== changed || user !== userId);
  if (on) kept.push({ key: changed, emoji, user: userId });
  const reactions = new Map<string, { emoji: string; users: Set<string> }>();
  for (const { key, emoji: shown, user } of kept) {
    const reaction = reactions.get(key) ?? { emoji: shown, users: new Set() };
    reactions.set(key, reaction);
    reaction.users.add(user);
  }
  return [...reactions.values()].map(({ emoji: shown, users }) => ({
    emoji: shown,
    count: users.size,
    user_ids: [...users],
  }));
}

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

/** The rules of messages: functions of the rows of a room, a command and the time of the database, which return changes or an error. */

const MAX_REACTIONS = 20;

/** Nothing is written: the current message is the result of a repeated request, or part of an error. */
export interface Unwritten {
  outcome: 'duplicate' | 'unchanged' | 'conflict';
  seq: number;
}

export type Decision<Change> = Change | Unwritten | ApiError;

/** What the result of a new message depends on. */
export interface SendFacts {
  /** Null means that the sender is no member. */
  role: ChatRole | null;
  isArchived: boolean;
  lastSeq: number;
  /** The other user of a direct room is deactivated. */
  isPartnerInactive: boolean;
  /** The message that the sender has sent with the same `client_msg_id`. `fingerprint`: hexadecimal. */
  sent: { seq: number; fingerprint: string } | null;
  /** Number of the message of `reply_to`; null: the room has none. */
  repliedSeq: number | null;
  /** The mentioned users who are members, by id. */
  mentioned: readonly string[];
  /** The attachments that the sender has uploaded and not sent, by id. */
  files: ReadonlyMap<string, object>;
}

/**
 * Adds a message. Mentions of users who are not members are dropped.
 * @param sender.guestName null for a member; the caller has checked the access of a guest
 */
export function sendMessage(
  facts: SendFacts,
  sender: { id: string; guestName: string | null },
  input: MessageInput,
): Decision<NewMessage> {
  const { sent, files } = facts;
  if (sender.guestName === null && facts.role === null) return ChatErrors.roomNotFound.with();
  if (sent)
    return sent.fingerprint === input.fingerprint
      ? { outcome: 'duplicate', seq: sent.seq }
      : ChatErrors.clientMessageIdReused.with();
  if (facts.isArchived) return ChatErrors.roomArchived.with();
  // Messages keep their rows as long as the room, so that the last number is their count.
  if (facts.lastSeq >= QUOTAS.item.messages_of_chat_room) return quotaExceeded('item.messages_of_chat_room');
  if (facts.isPartnerInactive) return ChatErrors.userNotFound.with();
  if (input.reply_to !== null && facts.repliedSeq === null) return ChatErrors.unknownReply.with();
  const attachments = input.attachments.flatMap((id) => files.get(id) ?? []);
  if (attachments.length < input.attachments.length) return ChatErrors.unknownAttachment.with();
  return {
    ...input,
    kind: 'text',
    event: null,
    sender_id: sender.id,
    guest_name: sender.guestName,
    reply_to_seq: facts.repliedSeq,
    mentions: facts.mentioned,
    attachments,
  };
}

/** The columns of a message that its rules read. */
export interface MessageRow extends Pick<ChatMessage, 'kind' | 'body' | 'format'> {
  seq: number;
  mod_seq: number;
  sender_id: string;
  isDeleted: boolean;
  mentions: readonly string[];
  reactions: readonly Reaction[];
  /** Number of its attachments. */
  files: number;
}

/** What the result of a change of a message depends on. */
export interface ChangeFacts {
  now: Date;
  isArchived: boolean;
  /** Null means that the caller is no member. */
  role: ChatRole | null;
  /** Null means that the room has no such message. */
  message: MessageRow | null;
}

/** A change of a message. */
export interface MessageChange {
  message: MessageRow;
  columns: Partial<{
    body: string;
    format: string;
    mentions: readonly string[];
    attachments: [];
    reactions: readonly Reaction[];
    tsv: string;
    edited_at: Date;
    deleted_at: Date;
    deleted_by: string;
  }>;
  /** Reported to programs of others. */
  event: 'edited' | 'deleted' | null;
}

/** A member whom an edit mentions. */
export type MentionedMember = Pick<ChatMember, 'notify' | 'muted_until'> & { id: string };

export interface EditCommand {
  userId: string;
  /** The `mod_seq` that the client has read; null: any. */
  base: number | null;
  body: string;
  /** Null means no change. */
  format: string | null;
  /** Null means no change. */
  mentions: readonly string[] | null;
  /** Text form of the tsvector of the body. */
  tsv: string;
}

export const blankBody = (): ApiError =>
  fieldError('body', 'is_not_empty', 'body must not be blank without attachments');

/** Replaces the text of an own message, and its mentions. @param members the members among the mentioned users */
export function editMessage(
  facts: ChangeFacts,
  members: readonly MentionedMember[],
  command: EditCommand,
): Decision<MessageChange & { notified: string[] }> {
  const { message } = facts;
  if (facts.role === null) return ChatErrors.roomNotFound.with();
  if (!message) return ChatErrors.messageNotFound.with();
  if (message.sender_id !== command.userId || message.kind !== 'text') return Errors.forbidden.with();
  if (message.isDeleted) return ChatErrors.messageDeleted.with();
  if (facts.isArchived) return ChatErrors.roomArchived.with();
  if (message.files === 0 && !hasVisibleCharacter(command.body)) return blankBody();
  if (command.base !== null && command.base !== message.mod_seq) return unwritten('conflict', message);
  const { body, tsv } = command;
  const format = command.format ?? message.format;
  const mentions = mentionsOf(message, members, command);
  if (body === message.body && format === message.format && isDeepStrictEqual(mentions, message.mentions))
    return unwritten('unchanged', message);
  const before = new Set(message.mentions);
  const notified = members.filter(
    ({ id, notify, muted_until }) =>
      !before.has(id) &&
      id !== command.userId &&
      notify !== 'none' &&
      (muted_until === null || muted_until <= facts.now),
  );
  return {
    message,
    columns: { body, format, mentions, tsv, edited_at: facts.now },
    event: 'edited',
    notified: notified.map(({ id }) => id),
  };
}

/** The mentions after an edit, by id. A mentioned user who has left the room stays mentioned. */
function mentionsOf(
  message: MessageRow,
  members: readonly MentionedMember[],
  { mentions }: EditCommand,
): readonly string[] {
  if (mentions === null) return message.mentions;
  const kept = message.mentions.filter((id) => mentions.includes(id));
  return [...new Set([...members.map(({ id }) => id), ...kept])].toSorted();
}

/**
 * Makes a message a tombstone: it keeps its place and loses its content.
 * @param any the user may delete messages of others by a permission
 */
export function deleteMessage(
  { now, role, message }: ChangeFacts,
  { userId, any }: { userId: string; any: boolean },
): Decision<MessageChange> {
  if (role === null) return ChatErrors.roomNotFound.with();
  if (!message) return ChatErrors.messageNotFound.with();
  const mayDelete = message.sender_id === userId || any || atLeast(role, 'moderator');
  if (message.kind !== 'text' || !mayDelete) return Errors.forbidden.with();
  if (message.isDeleted) return unwritten('unchanged', message);
  const content = { body: '', mentions: [], attachments: [] as [], reactions: [], tsv: '' };
  return { message, columns: { ...content, deleted_at: now, deleted_by: userId }, event: 'deleted' };
}

/**
 * Adds or removes the reaction of a user. Messages of the kind `system` never change, because the delivery to sockets reads changes
 * of members from them, in order.
 */
export function reactToMessage(
  { isArchived, role, message }: ChangeFacts,
  { userId, ...reaction }: { userId: string; emoji: string; on: boolean },
): Decision<MessageChange> {
  if (role === null) return ChatErrors.roomNotFound.with();
  if (!message) return ChatErrors.messageNotFound.with();
  if (message.kind === 'system') return Errors.forbidden.with();
  if (message.isDeleted) return ChatErrors.messageDeleted.with();
  if (isArchived) return ChatErrors.roomArchived.with();
  const reactions = changeReactions(message.reactions, userId, reaction);
  if (isDeepStrictEqual(reactions, message.reactions)) return unwritten('unchanged', message);
  if (reactions.length > MAX_REACTIONS) return ChatErrors.tooManyReactions.with();
  return { message, columns: { reactions }, event: null };
}

const unwritten = (outcome: Unwritten['outcome'], { seq }: MessageRow): Unwritten => ({ outcome, seq });
