import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { ChatRole, ChatAttachment } from '../chat.schema.js';
import type {
  ChangeFacts,
  MentionedMember,
  MessageInput,
  MessageRow,
  SendFacts,
} from '../model/message-rules.js';

/** JSON of a row `file`: a message stores that of its attachments. */
export const ATTACHMENT = `json_build_object(
    'id', file.id, 'name', file.name, 'size', file.size, 'content_type', file.content_type,
    'sha256', encode(file.sha256, 'hex'), 'url', '/apis/v1/chat/attachments/' || file.id,
    'thumbnail_url', CASE WHEN file.thumbnail_id IS NOT NULL THEN '/apis/v1/chat/attachments/' || file.id || '/thumbnail' END)`;

// In the order of the ids, so that messages with the same files do not wait for each other.
const lockUnsent = workspace.statement<Pick<ChatAttachment, 'id'> & { attachment: object }>(
  'chat_attachments.lock_unsent_files',
  `SELECT file.id, ${ATTACHMENT} AS attachment FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.owner_id = $2 AND file.room_id IS NULL AND file.id = ANY ($3::uuid[])
    ORDER BY file.id FOR UPDATE`,
);

const markSent = workspace.statement<never>(
  'chat_attachments.mark_sent',
  `UPDATE chat_attachments SET room_id = $2, message_seq = $3 WHERE tenant_id = $1 AND id = ANY ($4::uuid[])`,
);

// Index: chat_attachments_message.
const deleteSent = workspace.statement<never>(
  'chat_attachments.delete_sent',
  `DELETE FROM chat_attachments WHERE tenant_id = $1 AND room_id = $2 AND message_seq = $3`,
);

/** The files of messages that are written. */
@Injectable()
export class MessageFiles {
  /** Locks the files among these that the user has uploaded and not sent. @returns their JSON, by id */
  async lockUnsent(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    ids: readonly string[],
  ): Promise<Map<string, object>> {
    const rows = await tx.query(lockUnsent, [tenantId, userId, ids]);
    return new Map(rows.map(({ id, attachment }) => [id, attachment]));
  }

  /** Makes locked files part of a message. */
  async markSent(
    tx: Tx,
    { tenantId }: MemberKey,
    roomId: string,
    seq: number,
    ids: readonly string[],
  ): Promise<void> {
    if (ids.length > 0) await tx.query(markSent, [tenantId, roomId, seq, ids]);
  }

  /** Deletes the files of a message. */
  async deleteSent(tx: Tx, { tenantId }: MemberKey, roomId: string, seq: number): Promise<void> {
    await tx.query(deleteSent, [tenantId, roomId, seq]);
  }
}

interface SendRow extends Pick<SendFacts, 'role' | 'isArchived' | 'lastSeq' | 'isPartnerInactive'> {
  sentSeq: number | null;
  fingerprint: string;
  repliedSeq: number | null;
  mentioned: string[];
}

/** SQL: whether the other user of a direct room is active. @param room SQL of its id @param user SQL of the id of the sender */
export const activePartner = (room: string, user: string): string => `EXISTS (
            SELECT FROM chat_members partner
              JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = partner.user_id AND profile.status = 'active'
             WHERE partner.tenant_id = $1 AND partner.room_id = ${room} AND partner.user_id <> ${user})`;

// Indexes: chat_messages_client, chat_messages_id and the primary keys.
const sendFacts = workspace.statement<SendRow>(
  'chat_messages.facts_of_new',
  `SELECT mine.role, room.archived_at IS NOT NULL AS "isArchived", room.last_seq::float8 AS "lastSeq",
          CASE WHEN room.type = 'direct' THEN NOT ${activePartner('$3', '$2')} ELSE false END AS "isPartnerInactive",
          sent.seq::float8 AS "sentSeq", encode(sent.fingerprint, 'hex') AS fingerprint,
          (SELECT replied.seq::float8 FROM chat_messages replied
            WHERE replied.tenant_id = $1 AND replied.room_id = $3 AND replied.id = $5) AS "repliedSeq",
          ARRAY(SELECT mentioned.user_id FROM chat_members mentioned
                 WHERE mentioned.tenant_id = $1 AND mentioned.room_id = $3 AND mentioned.user_id = ANY ($6::uuid[])
                 ORDER BY mentioned.user_id)::text[] AS mentioned
     FROM chat_rooms room
     LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2
     LEFT JOIN chat_messages sent
       ON sent.tenant_id = $1 AND sent.room_id = room.id AND sent.sender_id = $2 AND sent.client_msg_id = $4
    WHERE room.tenant_id = $1 AND room.id = $3 AND room.deleted_at IS NULL`,
  { pipelined: true },
);

const changeFacts = workspace.statement<
  MessageRow & { message: string | null; now: Date; role: ChatRole | null; isArchived: boolean }
>(
  'chat_messages.facts',
  `SELECT clock_timestamp() AS now, room.archived_at IS NOT NULL AS "isArchived", mine.role, message.id AS message,
          message.seq::float8 AS seq, message.mod_seq::float8 AS mod_seq, message.sender_id, message.kind, message.body, message.format,
          message.deleted_at IS NOT NULL AS "isDeleted", message.mentions::text[] AS mentions, message.reactions,
          jsonb_array_length(message.attachments) AS files
     FROM chat_rooms room
     LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2
     LEFT JOIN chat_messages message ON message.tenant_id = $1 AND message.room_id = room.id AND message.id = $4
    WHERE room.tenant_id = $1 AND room.id = $3 AND room.deleted_at IS NULL`,
  { pipelined: true },
);

const members = workspace.statement<MentionedMember>(
  'chat_messages.mentioned_members',
  `SELECT user_id AS id, notify, muted_until FROM chat_members
    WHERE tenant_id = $1 AND room_id = $2 AND user_id = ANY ($3::uuid[]) ORDER BY user_id`,
);

/** The rows that writes of messages read. */
@Injectable()
export class MessageFacts {
  constructor(private readonly files: MessageFiles) {}

  /**
   * @param userId the sender, who may be a guest
   * @param reader with attachments an open transaction, which locks them
   * @returns undefined for an unknown room
   */
  async ofNew(
    reader: Reader,
    { tenantId, userId }: MemberKey,
    roomId: string,
    { client_msg_id, reply_to, mentions, attachments }: MessageInput,
  ): Promise<SendFacts | undefined> {
    const [row] = await reader.query(sendFacts, [
      tenantId,
      userId,
      roomId,
      client_msg_id,
      reply_to,
      mentions,
    ]);
    if (!row) return undefined;
    const { sentSeq, fingerprint, ...facts } = row;
    const files =
      attachments.length === 0
        ? new Map<string, object>()
        : await this.files.lockUnsent(reader as Tx, { tenantId, userId }, attachments);
    return { ...facts, sent: sentSeq === null ? null : { seq: sentSeq, fingerprint }, files };
  }

  /** @returns undefined for an unknown room */
  async ofChange(
    reader: Reader,
    { tenantId, userId }: MemberKey,
    roomId: string,
    id: string,
  ): Promise<ChangeFacts | undefined> {
    const [row] = await reader.query(changeFacts, [tenantId, userId, roomId, id]);
    if (!row) return undefined;
    const { now, isArchived, role, message, ...columns } = row;
    return { now, isArchived, role, message: message === null ? null : columns };
  }

  /** The members of the room among these users, by id. */
  async members(
    reader: Reader,
    { tenantId }: MemberKey,
    roomId: string,
    users: readonly string[] | null,
  ): Promise<MentionedMember[]> {
    return users?.length ? reader.query(members, [tenantId, roomId, users]) : [];
  }
}
