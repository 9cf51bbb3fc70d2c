import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiDownload } from '../../../../platform/blobs/download-docs.js';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../../platform/blobs/file-errors.dto.js';
import { Form, TakesFile, type UploadForm } from '../../../../platform/blobs/uploads/upload-form.js';
import { Db } from '../../../../platform/database/db.js';
import { Errors, fieldError } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import type { ContentReply } from '../../../../platform/http/replies/content-reply.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.dto.js';
import { ChatErrors, GuestChatApi, type RoomGuest } from '../../../chat/index.js';
import { GuestEndpoint } from '../guest-endpoint.js';
import { GuestLimits } from '../guest-limits.js';
import { GuestSessions } from '../guest-sessions.js';
import { GuestErrors } from '../guests.dto.js';
import { guestMessageReply } from '../guests.presenter.js';
import { GuestsRepository, type GuestView } from '../guests.repository.js';
import { rejectChat } from '../model/guest-rules.js';
import { FromGuest, type Visitor } from '../model/visitor.js';
import {
  GuestAttachmentEnvelope,
  GuestMessageEnvelope,
  GuestMessageListEnvelope,
  ListGuestMessages,
  SendGuestMessage,
} from './guest-chat.dto.js';

/** Bytes of one file: 10 MiB. */
export const GUEST_FILE_BYTES = 10 * 1024 * 1024;

/** The chat of admitted guests. Writes lock the guest, so that a removal takes effect before or after them. */
@Injectable()
export class GuestChatService {
  constructor(
    private readonly guests: GuestsRepository,
    private readonly sessions: GuestSessions,
    private readonly chat: GuestChatApi,
    private readonly limits: GuestLimits,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 401, 403, 404, 410, 422 for two positions */
  async list(visitor: Visitor, query: ListGuestMessages): Promise<JsonReply<GuestMessageListEnvelope>> {
    if (query.after_seq !== undefined && query.before_seq !== undefined)
      throw fieldError('before_seq', 'one_position', 'the query must have at most one position');
    const { messages, hasMore } = await this.chat.list(await this.reader(visitor), query);
    return JsonReply.listOf('messages', messages, { has_more: hasMore });
  }

  /** @throws ApiError 401, 403, 404, 409, 410, 422 */
  async send(visitor: Visitor, input: SendGuestMessage): Promise<JsonReply<GuestMessageEnvelope>> {
    const { message, isDuplicate } = await this.db.tx(async (tx) => {
      const { guest, roomId } = await this.sessions.writeToChat(tx, visitor, 0);
      const { tenant_id: tenantId, id: guestId, display_name } = guest;
      const room = { tenantId, guestId, roomId, afterSeq: Number(guest.admitted_seq) };
      return this.chat.send(tx, room, display_name, input);
    });
    return guestMessageReply(message, isDuplicate);
  }

  /** @throws ApiError 401, 403, 404, 410, 413 `upload_quota_exceeded`, and the errors of uploads */
  async upload(visitor: Visitor, form: UploadForm): Promise<JsonReply<GuestAttachmentEnvelope>> {
    const { tenantId, guestId } = await this.admitted(visitor);
    const guest = { tenantId, guestId };
    const attachment = await this.chat.upload(
      guest,
      visitor.requestId,
      form,
      GUEST_FILE_BYTES,
      async (tx, bytes) => void (await this.sessions.writeToChat(tx, visitor, bytes)),
    );
    const { id, name, size, content_type } = JSON.parse(attachment) as GuestAttachmentEnvelope['attachment'];
    return JsonReply.of({ attachment: { id, name, size, content_type } }, { status: 201 });
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
    if (!view) throw GuestErrors.inviteNotFound.with();
    const rejection = rejectChat({ ...view, guest: guestOf(view) });
    if (rejection) throw rejection;
    const { tenantId } = visitor;
    const guestId = view.guest_id as string;
    if (view.is_stale) await this.guests.touch(tenantId, guestId);
    return { tenantId, guestId, roomId: view.room_id as string, afterSeq: view.admitted_seq as number };
  }
}

/** The guest of a session, as far as the access to the chat depends on them. */
const guestOf = ({ guest_id, guest_role: role, guest_state: state, is_banned, admitted_seq }: GuestView) =>
  guest_id === null || role === null || state === null
    ? null
    : { role, state, isBanned: is_banned, isAdmitted: admitted_seq !== null };

const ACCESS = [
  GuestErrors.chatNotAllowed,
  GuestErrors.guestWaiting,
  GuestErrors.guestDenied,
  GuestErrors.guestRemoved,
];

@ApiTags('guests')
@Controller('call/external/:invite_token/chat')
export class GuestChatController {
  constructor(private readonly chat: GuestChatService) {}

  @GuestEndpoint('GET messages', {
    id: 'listGuestMessages',
    summary: 'List messages since the admission',
    description: 'Text messages since the admission of the guest. Without a position, the newest messages.',
    session: 'required',
    response: [GuestMessageListEnvelope, 'Messages in ascending order.'],
    errors: ACCESS,
  })
  list(@FromGuest() visitor: Visitor, @Query() query: ListGuestMessages) {
    return this.chat.list(visitor, query);
  }

  @GuestEndpoint('POST messages', {
    id: 'sendGuestMessage',
    summary: 'Send a message',
    description:
      'A request with the same `client_msg_id` adds no second message: it returns the first one with status 200.',
    session: 'required',
    status: 201,
    response: [GuestMessageEnvelope, 'The message.'],
    unchanged: 'The message that was sent with this client_msg_id.',
    errors: [
      ...ACCESS,
      ChatErrors.roomNotFound,
      ChatErrors.roomArchived,
      ChatErrors.clientMessageIdReused,
      QuotaErrors.exceeded,
      ChatErrors.unknownAttachment,
    ],
  })
  send(@FromGuest() visitor: Visitor, @Body() body: SendGuestMessage) {
    return this.chat.send(visitor, body);
  }

  @GuestEndpoint('POST attachments', {
    id: 'uploadGuestAttachment',
    summary: 'Upload a file for a message',
    description: 'One file of at most 10 MiB; all files of a guest at most 50 MiB. Send it within 24 hours.',
    session: 'required',
    status: 201,
    response: [GuestAttachmentEnvelope, 'The file, for `attachment_ids` of a message.'],
    errors: [
      ...ACCESS,
      GuestErrors.uploadQuota,
      ChatErrors.tooManyUnsent,
      Errors.validationFailed,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
    ],
  })
  @TakesFile(GUEST_FILE_BYTES)
  upload(@FromGuest() visitor: Visitor, @Form() form: UploadForm) {
    return this.chat.upload(visitor, form);
  }

  @GuestEndpoint('GET attachments/:id', {
    id: 'downloadGuestAttachment',
    summary: 'Download a file of a message',
    description: 'Files of messages since the admission. Always as an attachment.',
    session: 'required',
    errors: [...ACCESS, ChatErrors.attachmentNotFound, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The file.')
  download(@FromGuest() visitor: Visitor, @Id() id: string): Promise<ContentReply> {
    return this.chat.download(visitor, id);
  }
}
