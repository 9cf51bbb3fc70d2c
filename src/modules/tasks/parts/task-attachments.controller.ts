import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { ApiDownload } from '../../../platform/blobs/download-docs.js';
import { Form, TakesFile, type UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { TaskErrors } from '../tasks.dto.js';
import { ATTACHMENT_MAX_BYTES, TaskAttachmentsService } from './task-attachments.service.js';
import {
  RemovedTaskAttachmentEnvelope,
  TaskAttachmentEnvelope,
  TaskAttachmentListEnvelope,
} from './task-parts.dto.js';

@ApiTags('tasks')
@Controller('tasks/:task_id/attachments')
export class TaskAttachmentsController {
  constructor(private readonly attachments: TaskAttachmentsService) {}

  @Endpoint('POST', {
    id: 'addTaskAttachment',
    summary: 'Attach a file to a task',
    description:
      'One file of at most 20 MiB. Its type is detected from the content. The revision of the task does not change. With an Idempotency-Key, the same file under the same name is one request.',
    status: 201,
    response: [TaskAttachmentEnvelope, 'The attachment, and the task as it is now.'],
    etag: 'task',
    errors: [
      TaskErrors.notFound,
      Errors.forbidden,
      TaskErrors.deleted,
      TaskErrors.tooManyAttachments,
      Errors.validationFailed,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
    ],
  })
  @TakesFile(ATTACHMENT_MAX_BYTES)
  add(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Idempotency() key: IdempotencyKey | null,
    @Form() form: UploadForm,
  ) {
    return this.attachments.add(ctx, taskId, key, form);
  }

  @Endpoint('GET', {
    id: 'listTaskAttachments',
    summary: 'List the attachments of a task',
    description: 'In the order they were added; the task itself contains them too.',
    response: [TaskAttachmentListEnvelope, 'All of them.'],
    errors: [TaskErrors.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Id('task_id') taskId: string) {
    return this.attachments.list(ctx, taskId);
  }

  @Endpoint('GET :id', {
    id: 'downloadTaskAttachment',
    summary: 'Download an attachment of a task',
    description: 'Always as an attachment. `Range` for a part of it, `HEAD` for its size and tag.',
    errors: [TaskErrors.notFound, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The file.')
  download(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Id() id: string,
  ): Promise<ContentReply> {
    return this.attachments.download(ctx, taskId, id);
  }

  @Endpoint('DELETE :id', {
    id: 'removeTaskAttachment',
    summary: 'Remove an attachment from a task',
    description: 'The file is deleted for good. The revision of the task does not change.',
    response: [RemovedTaskAttachmentEnvelope, 'The task as it is now.'],
    etag: 'task',
    errors: [TaskErrors.notFound, Errors.forbidden, TaskErrors.deleted],
  })
  remove(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ) {
    return this.attachments.remove(ctx, taskId, id, key);
  }
}
