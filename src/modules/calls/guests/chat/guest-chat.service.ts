import { Injectable } from '@nestjs/common';
import type { UploadForm } from '../../../../platform/blobs/uploads/upload-form.js';
import { Db } from '../../../../platform/database/db.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { fieldError } from '../../../../platform/http/errors.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import type { ContentReply } from '../../../../platform/http/replies/content-reply.js';
import { GuestChatApi, type RoomGuest } from '../../../chat/index.js';
import { GuestLimits } from '../guest-limits.js';
import { rejectionOf } from '../guests.errors.js';
import { type ChatAccess, GuestsRepository } from '../guests.repository.js';
import type { Visitor } from '../visitor.js';
import type { ListGuestMessages, SendGuestMessage } from './guest-chat.dto.js';

/** Bytes of one file: 10 MiB. */
export const GUEST_FILE_BYTES = 10 * 1024 * 1024;
/** Bytes of all files of a guest. */
const GUEST_TOTAL_BYTES = 50 * 1024 * 1024;

/** The chat of admitted guests. Writes lock the guest, so that a removal takes effect before or after them. */
@Injectable()
export class GuestChatService {
  constructor(
    private readonly guests: GuestsRepository,
    private readonly chat: GuestChatApi,
    private readonly limits: GuestLimits,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 401, 403, 404, 410, 422 for two positions */
  async list(visitor: Visitor, query: ListGuestMessages): Promise<JsonReply> {
    if (query.after_seq !== undefined && query.before_seq !== undefined)
      throw fieldError('before_seq', 'one_position', 'the query must have at most one position');
    const { messages, hasMore } = await this.chat.list(await this.reader(visitor), query);
    return new JsonReply(`{"messages":[${messages.join(',')}],"has_more":${hasMore}}`);
  }

  /** @throws ApiError 401, 403, 404, 409, 410, 422 */
  async send(visitor: Visitor, input: SendGuestMessage): Promise<JsonReply> {
    const { message, isDuplicate } = await this.db.tx(async (tx) => {
      const access = await this.writer(tx, visitor, 0);
      return this.chat.send(tx, roomOf(visitor, access), access.name, input);
    });
    return new JsonReply(`{"message":${message}}`, { status: isDuplicate ? 200 : 201 });
  }

  /** @throws ApiError 401, 403, 404, 410, 413 `upload_quota_exceeded`, and the errors of uploads */
  async upload(visitor: Visitor, form: UploadForm): Promise<JsonReply> {
    const { tenantId, guestId } = await this.admitted(visitor);
    const guest = { tenantId, guestId };
    const attachment = await this.chat.upload(
      guest,
      visitor.requestId,
      form,
      GUEST_FILE_BYTES,
      async (tx, bytes) => void (await this.writer(tx, visitor, bytes)),
    );
    const { id, name, size, content_type } = JSON.parse(attachment) as Record<string, unknown>;
    return new JsonReply(JSON.stringify({ attachment: { id, name, size, content_type } }), { status: 201 });
  }

  /** @throws ApiError 401, 403, 404, 410 */
  async download(visitor: Visitor, id: string): Promise<ContentReply> {
    return this.chat.download(await this.reader(visitor), id);
  }

  private async reader(visitor: Visitor): Promise<RoomGuest> {
    await this.limits.enforce(visitor);
    return this.admitted(visitor);
  }

  /** Checks the access to read, and records that the guest is present. */
  private async admitted(visitor: Visitor): Promise<RoomGuest> {
    const view = await this.guests.view(visitor);
    const outcome = view ? view.chat_rejection : 'not_found';
    if (!view || outcome !== null) throw rejectionOf({ outcome: outcome as string });
    const { tenantId } = visitor;
    const guestId = view.guest_id as string;
    if (view.is_stale) await this.guests.touch(tenantId, guestId);
    return { tenantId, guestId, roomId: view.room_id as string, afterSeq: view.admitted_seq as number };
  }

  private async writer(tx: Tx, visitor: Visitor, bytes: number): Promise<ChatAccess> {
    const access = await this.guests.chat(tx, visitor, bytes, GUEST_TOTAL_BYTES);
    if (access.outcome !== 'ok') throw rejectionOf(access);
    return access;
  }
}

const roomOf = ({ tenantId }: Visitor, { id, room_id, after_seq }: ChatAccess): RoomGuest => ({
  tenantId,
  guestId: id,
  roomId: room_id,
  afterSeq: after_seq,
});
