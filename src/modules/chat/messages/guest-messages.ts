import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { type Statement, workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatErrors } from '../chat.errors.js';
import type { RoomGuest } from '../room-guest.js';
import { messageInput } from './message-input.js';
import type { SendMessage } from './messages.dto.js';
import type { ChatOutcome } from './messages.repository.js';
import { REJECTIONS } from './messages.service.js';

/** Positions of a page of messages, exclusive; the newest page without any. */
export interface GuestMessagesQuery {
  before_seq?: number;
  after_seq?: number;
  limit: number;
}

const send = workspace.statement<ChatOutcome>(
  'chat_guests.send',
  `SELECT outcome, mod_seq::float8 AS mod_seq, message FROM chat_send_guest($1, $2, $3, $4, $5)`,
);

// $6: messages up to this number are not shown. Index: the primary key.
const pageOf = (name: string, condition: string, order: string): Statement<{ message: string }> =>
  workspace.statement<{ message: string }>(
    `chat_guests.${name}`,
    `SELECT (view.message::jsonb || jsonb_build_object('own', view.sender_id = $2))::text AS message
       FROM chat_guest_message_views view
      WHERE view.tenant_id = $1 AND view.room_id = $3 AND view.seq > $6 AND ${condition} ORDER BY view.seq ${order} LIMIT $5`,
    { pipelined: true },
  );
const before = pageOf('before', 'view.seq < $4', 'DESC');
const after = pageOf('after', 'view.seq > $4', 'ASC');

/** Messages of rooms for guests: they see text messages since their admission. */
@Injectable()
export class GuestMessages {
  constructor(
    private readonly db: Db,
    private readonly changes: ChatChanges,
  ) {}

  /**
   * Adds a message of a guest to the room, or returns the one with the same `client_msg_id`.
   * @throws ApiError 404, 409 `room_archived`, `idempotency_key_reused`, 422 `unknown_attachment`
   */
  async send(
    tx: Tx,
    { tenantId, guestId, roomId }: RoomGuest,
    name: string,
    input: SendMessage,
  ): Promise<{ message: string; isDuplicate: boolean }> {
    const values = [tenantId, guestId, name, roomId, await messageInput(input)];
    const [result] = await tx.query(send, values);
    const { outcome, mod_seq: modSeq, message } = result as ChatOutcome;
    if (outcome === 'not_found') throw ChatErrors.roomNotFound.with();
    if (outcome !== 'ok' && outcome !== 'duplicate') throw (REJECTIONS[outcome] ?? Errors.internal).with();
    // Also for a repeated request, as `MessagesService` does.
    this.changes.changed(tx, { tenantId }, roomId, modSeq as number);
    return { message: message as string, isDuplicate: outcome === 'duplicate' };
  }

  /** JSON of messages in ascending order. */
  async list(
    { tenantId, guestId, roomId, afterSeq }: RoomGuest,
    { before_seq, after_seq, limit }: GuestMessagesQuery,
  ): Promise<{ messages: string[]; hasMore: boolean }> {
    const isForward = after_seq !== undefined;
    const from = after_seq ?? before_seq ?? Number.MAX_SAFE_INTEGER;
    const values = [tenantId, guestId, roomId, from, limit + 1, afterSeq];
    const rows = await this.db.query(isForward ? after : before, values);
    const messages = rows.slice(0, limit).map(({ message }) => message);
    return { messages: isForward ? messages : messages.toReversed(), hasMore: rows.length > limit };
  }
}
