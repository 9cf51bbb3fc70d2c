import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../../platform/blobs/blobs.errors.js';
import { ApiDownload } from '../../../../platform/blobs/download-docs.js';
import { Form, TakesFile, type UploadForm } from '../../../../platform/blobs/uploads/upload-form.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import type { ContentReply } from '../../../../platform/http/replies/content-reply.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.errors.js';
import { ChatErrors } from '../../../chat/index.js';
import { GuestErrors } from '../guests.errors.js';
import { GuestEndpoint } from '../guest-endpoint.js';
import { FromGuest, type Visitor } from '../model/visitor.js';
import { ListGuestMessages, SendGuestMessage } from './guest-chat.dto.js';
import {
  GuestAttachmentEnvelope,
  GuestMessageEnvelope,
  GuestMessageListEnvelope,
} from './guest-chat.response.js';
import { GUEST_FILE_BYTES, GuestChatService } from './guest-chat.service.js';

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
