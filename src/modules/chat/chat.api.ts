import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { UploadForm } from '../../platform/blobs/uploads/upload-form.js';
import { boundedPage, PAGE_BYTES } from '../../platform/bounded-pages/page-bytes.js';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Checked } from '../../platform/http/input.pipe.js';
import type { ContentReply } from '../../platform/http/replies/content-reply.js';
import { ChatAttachmentsService } from './attachments/chat-attachments.service.js';
import { MessageWrites } from './changes/message-writes.js';
import { ChatChanges } from './chat-changes.js';
import type { RoomGuest } from './chat-hooks.js';
import { ChatErrors } from './chat.dto.js';
import { type ChatRole, MESSAGE_BYTES, type MessageOrigin } from './chat.schema.js';
import { messageInput, SendMessage } from './messages/messages.dto.js';
import { MessagesService } from './messages/messages.service.js';
import { type CallEvent, type MemberRoom, RoomsRepository } from './rooms/rooms.repository.js';

/** Rooms for other domains. */
@Injectable()
export class ChatApi {
  constructor(
    private readonly rooms: RoomsRepository,
    private readonly changes: ChatChanges,
    private readonly messages: MessagesService,
  ) {}

  /** @returns undefined for an unknown room, or one that the caller is not a member of */
  async room(ctx: MemberKey, id: string, reader?: Reader): Promise<MemberRoom | undefined> {
    return this.rooms.ofMember(ctx, id, reader);
  }

  /** @throws ApiError 404 */
  async roomOf(ctx: MemberKey, id: string): Promise<MemberRoom> {
    const room = await this.room(ctx, id);
    if (!room) throw ChatErrors.roomNotFound.with();
    return room;
  }

  /** Locks the room until the end of the transaction. @returns the role of the caller; null without membership */
  async lock(tx: Tx, ctx: MemberKey, id: string): Promise<ChatRole | null> {
    return this.rooms.lock(tx, ctx, id);
  }

  /**
   * Adds a message of this user that a program has written. @param message.body not blank
   * @returns its id @throws ApiError 404; 409 `room_archived`, `quota_exceeded`
   */
  async post(
    ctx: RequestContext,
    roomId: string,
    { via, ...text }: Pick<SendMessage, 'body' | 'format'> & { via: MessageOrigin },
  ): Promise<string> {
    const input = { ...text, client_msg_id: randomUUID(), attachment_ids: [], mentions: [] };
    const { message } = await this.messages.send(ctx, roomId, Checked.valid(input), via);
    return (JSON.parse(message) as { id: string }).id;
  }

  /** Adds a message of the kind `call` by this user. Does nothing in a deleted room. */
  async reportCall(tx: Tx, ctx: MemberKey, roomId: string, event: CallEvent): Promise<void> {
    await this.rooms.lock(tx, ctx, roomId);
    const modSeq = await this.rooms.report(tx, ctx, roomId, event, 'call');
    if (modSeq > 0) this.changes.reportChange(tx, ctx, roomId, modSeq);
  }
}

/** Positions of a page of messages, exclusive; the newest page without any. */
export interface GuestMessagesQuery {
  before_seq?: number;
  after_seq?: number;
  limit: number;
}

const at = workspace.statement<{ message: string }>(
  'chat_guests.at',
  `SELECT message::text AS message FROM chat_guest_message_views WHERE tenant_id = $1 AND room_id = $2 AND seq = $3`,
);

// $6: messages up to this number are not shown. $7: bytes. Index: the primary key.
const pageOf = (name: string, condition: string, order: string): Statement<{ message: string | null }> =>
  workspace.statement<{ message: string | null }>(
    `chat_guests.${name}`,
    boundedPage({
      keys: `SELECT message.seq, ${MESSAGE_BYTES} AS bytes FROM chat_messages message
              WHERE message.tenant_id = $1 AND message.room_id = $3 AND message.kind = 'text' AND message.seq > $6 AND ${condition}
              ORDER BY message.seq ${order} LIMIT $5 + 1`,
      order: `sized.seq ${order}`,
      limit: '$5',
      bytes: '$7',
      columns: 'shown.message',
      shown: {
        columns: `(view.message::jsonb || jsonb_build_object('own', view.sender_id = $2))::text AS message`,
        from: 'chat_guest_message_views view WHERE view.tenant_id = $1 AND view.room_id = $3 AND view.seq = sized.seq',
      },
    }),
    { pipelined: true },
  );
const before = pageOf('before', 'message.seq < $4', 'DESC');
const after = pageOf('after', 'message.seq > $4', 'ASC');

/**
 * The chat of guests from outside: they see text messages since their admission. The calling module decides about their access, at
 * each call.
 */
@Injectable()
export class GuestChatApi {
  constructor(
    private readonly attachments: ChatAttachmentsService,
    private readonly writes: MessageWrites,
    private readonly db: Db,
  ) {}

  /**
   * Adds a plain text message, as members do, or returns the one with the same `client_msg_id`.
   * @param name of the guest, as members see it
   * @returns `message`: JSON as guests see it
   * @throws ApiError 404, 409 `room_archived`, `idempotency_key_reused`, `quota_exceeded`, 422
   */
  async send(
    tx: Tx,
    guest: RoomGuest,
    name: string,
    input: Pick<SendMessage, 'client_msg_id' | 'body' | 'attachment_ids'>,
  ): Promise<{ message: string; isDuplicate: boolean }> {
    const checked = await messageInput(Object.assign(new SendMessage(), input));
    const { seq, isDuplicate } = await this.writes.sendAsGuest(tx, guest, name, checked);
    const [row] = await tx.query(at, [guest.tenantId, guest.roomId, seq]);
    return { message: row!.message, isDuplicate };
  }

  /** JSON of messages in ascending order. */
  async list(
    { tenantId, guestId, roomId, afterSeq }: RoomGuest,
    { before_seq, after_seq, limit }: GuestMessagesQuery,
  ): Promise<{ messages: string[]; hasMore: boolean }> {
    const isForward = after_seq !== undefined;
    const from = after_seq ?? before_seq ?? Number.MAX_SAFE_INTEGER;
    const values = [tenantId, guestId, roomId, from, limit, afterSeq, PAGE_BYTES];
    const rows = await this.db.query(isForward ? after : before, values);
    const messages = rows.flatMap(({ message }) => message ?? []);
    const hasMore = rows.length > messages.length;
    return { messages: isForward ? messages : messages.toReversed(), hasMore };
  }

  /**
   * Stores a file that the guest may send.
   * @param accept runs in the transaction that stores the file; its error rejects the file
   * @returns JSON of the attachment
   * @throws ApiError 422 `too_many_unsent_attachments`, and the errors of uploads and of `accept`
   */
  async upload(
    { tenantId, guestId }: Pick<RoomGuest, 'tenantId' | 'guestId'>,
    requestId: string,
    form: UploadForm,
    maxBytes: number,
    accept: (tx: Tx, bytes: number) => Promise<void>,
  ): Promise<string> {
    const ctx = { tenantId, userId: guestId, role: null, sessionId: null, requestId };
    return (await this.attachments.store(ctx, form, maxBytes, accept)).attachment;
  }

  /** @throws ApiError 404 */
  async download(guest: RoomGuest, id: string): Promise<ContentReply> {
    return this.attachments.downloadAsGuest(guest, id);
  }
}
