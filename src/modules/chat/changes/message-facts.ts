import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { ChatRole } from '../chat.entity.js';
import type { ChangeFacts, MentionedMember, MessageRow, SendFacts } from '../model/message-rules.js';
import type { MessageInput } from '../model/new-message.js';
import { MessageFiles } from './message-files.js';

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
