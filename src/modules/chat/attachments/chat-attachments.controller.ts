import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { ApiDownload } from '../../../platform/blobs/download-docs.js';
import { Form, TakesFile, type UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { ChatAttachmentEnvelope, ChatErrors } from '../chat.dto.js';
import { ATTACHMENT_MAX_BYTES, ChatAttachmentsService } from './chat-attachments.service.js';

@ApiTags('chat')
@Controller('chat/attachments')
export class ChatAttachmentsController {
  constructor(private readonly attachments: ChatAttachmentsService) {}

  @Endpoint('POST', {
    id: 'uploadChatAttachment',
    summary: 'Upload a file for a message',
    description:
      'One file of at most 20 MiB. Its type is detected from the content. Send a message with its id within 24 hours; until then only you can download it.',
    status: 201,
    location: true,
    response: [ChatAttachmentEnvelope, 'The file, for `attachment_ids` of a message.'],
    errors: [
      ChatErrors.tooManyUnsent,
      Errors.validationFailed,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
    ],
  })
  @TakesFile(ATTACHMENT_MAX_BYTES)
  upload(@Ctx() ctx: RequestContext, @Form() form: UploadForm) {
    return this.attachments.upload(ctx, form);
  }

  @Endpoint('GET :id', {
    id: 'downloadChatAttachment',
    summary: 'Download a file of a message',
    description:
      'For members of the room. Always as an attachment. `Range` for a part of it, `HEAD` for its size and tag.',
    errors: [ChatErrors.attachmentNotFound, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The file.')
  download(@Ctx() ctx: RequestContext, @Id() id: string): Promise<ContentReply> {
    return this.attachments.download(ctx, id);
  }

  @Endpoint('GET :id/thumbnail', {
    id: 'downloadChatThumbnail',
    summary: 'Download the thumbnail of an image of a message',
    description:
      'Our addition. A JPEG of at most 480 pixels per side, without metadata, for members of the room. 404 for a file without `thumbnail_url`.',
    errors: [ChatErrors.attachmentNotFound, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The thumbnail.')
  thumbnail(@Ctx() ctx: RequestContext, @Id() id: string): Promise<ContentReply> {
    return this.attachments.thumbnail(ctx, id);
  }
}
