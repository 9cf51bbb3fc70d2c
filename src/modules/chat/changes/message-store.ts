import { Injectable } from '@nestjs/common';
import type { MemberKey, WorkspaceKey } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { MessageChange, NewMessage } from '../model/message-rules.js';
import { activePartner } from './message-facts.js';

/** A message as it was written. */
export interface StoredMessage {
  seq: number;
  mod_seq: number;
  /** JSON. */
  message: string;
  /** The event that the write has appended; null if nothing wants it. */
  event?: string | null;
}

/** SQL of the event for programs of others, about a row `written.message`. A guest is no user. */
const event = (type: string, actor: string): string => `append_if_wanted($1, ${type}, jsonb_build_object(
     'room_id', $2::uuid, 'message_id', (written.message).id, 'seq', (written.message).seq, 'actor_id', ${actor}))::text`;

// The result of a stored row. The row is not visible to the view of messages in the same statement.
const RESULT = `(written.message).seq::float8 AS seq, (written.message).mod_seq::float8 AS mod_seq,
          chat_message_json(written.message, sender.display_name)::text AS message`;
const SENDER = `LEFT JOIN member_profiles sender ON sender.tenant_id = $1 AND sender.user_id = (written.message).sender_id`;

/**
 * Gives a message its numbers and its time, which are in the order of the messages of the room because its row is locked. The
 * sender has read it.
 */
const append = (name: string, locks: string, numbered: string) =>
  workspace.statement<StoredMessage>(
    name,
    `WITH ${locks}numbered AS (
       UPDATE chat_rooms room SET last_seq = room.last_seq + 1, mod_seq = room.mod_seq + 1, active_at = clock_timestamp()
        ${numbered}
       RETURNING room.last_seq AS seq, room.mod_seq, room.active_at),
     seen AS (
       UPDATE chat_members member SET last_read_seq = numbered.seq FROM numbered
        WHERE member.tenant_id = $1 AND member.room_id = $2 AND member.user_id = $3 AND member.last_read_seq = numbered.seq - 1),
     written AS (
       INSERT INTO chat_messages AS message (
         tenant_id, room_id, seq, id, mod_seq, sender_id, guest_name, via, client_msg_id, fingerprint, kind, body, format, event,
         reply_to, reply_to_seq, mentions, attachments, tsv, created_at)
       SELECT $1::uuid, $2::uuid, numbered.seq, $4::uuid, numbered.mod_seq, $3::uuid, $5::text, $6::jsonb, $7::uuid, decode($8, 'hex'),
              $9::text, $10::text, $11::text, $12::jsonb, $13::uuid, $14::bigint, $15::uuid[], $16::jsonb, $17::tsvector,
              numbered.active_at
         FROM numbered
       RETURNING message AS message)
     SELECT ${RESULT}, CASE WHEN $9::text = 'text' THEN ${event(`'chat.message.sent'`, 'CASE WHEN $5::text IS NULL THEN $3::uuid END')} END AS event
       FROM written ${SENDER}`,
  );

const lock = workspace.statement<never>(
  'chat_rooms.lock',
  `SELECT FROM chat_rooms WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
);

const at = workspace.statement<StoredMessage>(
  'chat_messages.at',
  `SELECT seq::float8 AS seq, mod_seq::float8 AS mod_seq, message FROM chat_message_views
    WHERE tenant_id = $1 AND room_id = $2 AND seq = $3`,
);

// A row that another transaction has changed since the statement began is read again when it is locked. The room is locked first.
const appendOfMember = append(
  'chat_messages.append',
  `room AS MATERIALIZED (
       SELECT open.id FROM chat_rooms open
        WHERE open.tenant_id = $1 AND open.id = $2 AND open.deleted_at IS NULL AND open.archived_at IS NULL AND open.last_seq < $18
          AND (open.type <> 'direct' OR ${activePartner('$2', '$3')})
          FOR NO KEY UPDATE OF open),
     membership AS MATERIALIZED (
       SELECT member.room_id FROM room
         JOIN chat_members member ON member.tenant_id = $1 AND member.room_id = room.id AND member.user_id = $3
          FOR KEY SHARE OF member),
     `,
  'FROM membership WHERE room.tenant_id = $1 AND room.id = membership.room_id',
);

const appendToLocked = append(
  'chat_messages.append_locked',
  '',
  'WHERE room.tenant_id = $1 AND room.id = $2 AND room.deleted_at IS NULL',
);

// Each change of a message gives it a new `mod_seq`. FOR SHARE: a lock that reads a changed role again. `updated_at` shows the change to
// clients that poll the list of rooms.
const change = workspace.statement<StoredMessage>(
  'chat_messages.change',
  `WITH room AS MATERIALIZED (
     SELECT open.id FROM chat_rooms open
      WHERE open.tenant_id = $1 AND open.id = $2 AND open.deleted_at IS NULL AND (open.archived_at IS NOT NULL) = $4::boolean
        FOR NO KEY UPDATE),
   base AS MATERIALIZED (
     SELECT message.seq FROM room
       JOIN chat_members member ON member.tenant_id = $1 AND member.room_id = room.id AND member.user_id = $3 AND member.role = $5
       JOIN chat_messages message
         ON message.tenant_id = $1 AND message.room_id = room.id AND message.seq = $6 AND message.mod_seq = $7
        FOR SHARE OF member FOR NO KEY UPDATE OF message),
   numbered AS (
     UPDATE chat_rooms room SET mod_seq = room.mod_seq + 1, updated_at = clock_timestamp()
       FROM base WHERE room.tenant_id = $1 AND room.id = $2 RETURNING base.seq, room.mod_seq),
   written AS (
     UPDATE chat_messages message
        SET mod_seq = numbered.mod_seq,
            (body, format, mentions, attachments, reactions, tsv, edited_at, deleted_at, deleted_by) = (
              SELECT next.body, next.format, next.mentions, next.attachments, next.reactions, next.tsv, next.edited_at,
                     next.deleted_at, next.deleted_by
                FROM jsonb_populate_record(message, $8::jsonb) next)
       FROM numbered WHERE message.tenant_id = $1 AND message.room_id = $2 AND message.seq = numbered.seq
     RETURNING message AS message)
   SELECT ${RESULT}, CASE WHEN $9::text IS NOT NULL THEN ${event('$9::text', '$3::uuid')} END AS event
     FROM written ${SENDER}`,
);

/** Stores what the rules of messages decided, one statement each: the message, the numbers of its room, and the event. */
@Injectable()
export class MessageStore {
  /** Locks the room until the end of the transaction: memberships that are read afterwards are in force until then. */
  async lockRoom(tx: Tx, { tenantId }: WorkspaceKey, roomId: string): Promise<void> {
    await tx.query(lock, [tenantId, roomId]);
  }

  /** The stored message with this number. */
  async readAt(
    reader: Reader,
    { tenantId }: WorkspaceKey,
    roomId: string,
    seq: number,
  ): Promise<StoredMessage | undefined> {
    return (await reader.query(at, [tenantId, roomId, seq]))[0];
  }

  /**
   * @returns undefined if what the rules allowed is not true: the sender is no member, the room is archived, deleted or full, or the other user of
   *   a direct room is deactivated
   */
  async append(tx: Tx, { tenantId }: MemberKey, roomId: string, message: NewMessage) {
    const values = [...valuesOf(tenantId, roomId, message), QUOTAS.item.messages_of_chat_room];
    return (await tx.query(appendOfMember, values))[0];
  }

  /** Adds a message to a locked room. @returns undefined in a deleted room */
  async appendLocked(tx: Tx, { tenantId }: WorkspaceKey, roomId: string, message: NewMessage) {
    return (await tx.query(appendToLocked, valuesOf(tenantId, roomId, message)))[0];
  }

  /** @param read what the rules have read @returns undefined if the message, the role or the state of the room is another one now */
  async change(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    roomId: string,
    { message, columns, event: type }: MessageChange,
    read: { isArchived: boolean; role: string | null },
  ) {
    const values = [tenantId, roomId, userId, read.isArchived, read.role, message.seq, message.mod_seq];
    return (await tx.query(change, [...values, columns, type && `chat.message.${type}`]))[0];
  }
}

const valuesOf = (tenantId: string, roomId: string, message: NewMessage): unknown[] => [
  tenantId,
  roomId,
  message.sender_id,
  message.id,
  message.guest_name,
  message.via,
  message.client_msg_id,
  message.fingerprint,
  message.kind,
  message.body,
  message.format,
  message.event,
  message.reply_to,
  message.reply_to_seq,
  message.mentions,
  JSON.stringify(message.attachments),
  message.tsv,
];
