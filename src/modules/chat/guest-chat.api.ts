import { Injectable } from '@nestjs/common';
import type { UploadForm } from '../../platform/blobs/uploads/upload-form.js';
import type { Tx } from '../../platform/database/tx.js';
import type { ContentReply } from '../../platform/http/replies/content-reply.js';
import { ChatAttachmentsService } from './attachments/chat-attachments.service.js';
import { GuestMessages, type GuestMessagesQuery } from './messages/guest-messages.js';
import { SendMessage } from './messages/messages.dto.js';
import type { RoomGuest } from './room-guest.js';

/** The chat of guests from outside. The calling module decides about their access, at each call. */
@Injectable()
export class GuestChatApi {
  constructor(
    private readonly messages: GuestMessages,
    private readonly attachments: ChatAttachmentsService,
  ) {}

  /**
   * Adds a plain text message, as members do.
   * @param name of the guest, as members see it
   * @returns `message`: JSON as guests see it
   * @throws ApiError 404, 409 `room_archived`, `idempotency_key_reused`, 422
   */
  async send(
    tx: Tx,
    guest: RoomGuest,
    name: string,
    input: Pick<SendMessage, 'client_msg_id' | 'body' | 'attachment_ids'>,
  ): Promise<{ message: string; isDuplicate: boolean }> {
    return this.messages.send(tx, guest, name, Object.assign(new SendMessage(), input));
  }

  /** JSON of text messages since the admission, in ascending order. */
  async list(guest: RoomGuest, query: GuestMessagesQuery): Promise<{ messages: string[]; hasMore: boolean }> {
    return this.messages.list(guest, query);
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
