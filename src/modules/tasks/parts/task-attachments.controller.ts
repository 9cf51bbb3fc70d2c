import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { DOWNLOAD_ERRORS, UPLOAD_ERRORS } from '../../../platform/blobs/blobs.errors.js';
import { ApiDownload } from '../../../platform/blobs/download-docs.js';
import { Form, TakesFile, type UploadForm } from '../../../platform/blobs/upload-form.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import {
  ApiIdempotency,
  ApiRevision,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../../platform/http/api-docs.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import {
  RemovedTaskAttachmentEnvelope,
  TaskAttachmentEnvelope,
  TaskAttachmentListEnvelope,
} from './task-parts.response.js';
import { ATTACHMENT_MAX_BYTES, TaskAttachmentsService } from './task-attachments.service.js';
import { TaskErrors } from '../tasks.errors.js';

@Controller('tasks/:task_id/attachments')
export class TaskAttachmentsController {
  constructor(private readonly attachments: TaskAttachmentsService) {}

  @Operation({
    tag: 'tasks',
    id: 'addTaskAttachment',
    summary: 'Attach a file to a task',
    description:
      'One file of at most 20 MiB. Its type is detected from the content. As with subtasks and comments, the revision of the task stays. With an Idempotency-Key, the same file under the same name is one request.',
    errors: [
      TaskErrors.notFound,
      Errors.forbidden,
      TaskErrors.deleted,
      TaskErrors.tooManyAttachments,
      Errors.invalidId,
      Errors.validationFailed,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @TakesFile(ATTACHMENT_MAX_BYTES)
  @ApiIdempotency()
  @ApiRevision(201, TaskAttachmentEnvelope, 'The attachment, and the task as it is now.', 'task')
  @Post()
  add(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Idempotency() key: IdempotencyKey | null,
    @Form() form: UploadForm,
  ): Promise<JsonReply> {
    return this.attachments.add(ctx, taskId, key, form);
  }

  @Operation({
    tag: 'tasks',
    id: 'listTaskAttachments',
    summary: 'List the attachments of a task',
    description: 'In the order they were added; the task itself contains them too.',
    errors: [TaskErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: TaskAttachmentListEnvelope, description: 'All of them.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Id('task_id') taskId: string): Promise<JsonReply> {
    return this.attachments.list(ctx, taskId);
  }

  @Operation({
    tag: 'tasks',
    id: 'downloadTaskAttachment',
    summary: 'Download an attachment of a task',
    description: 'Always as an attachment. `Range` for a part of it, `HEAD` for its size and tag.',
    errors: [TaskErrors.notFound, Errors.invalidId, ...DOWNLOAD_ERRORS],
  })
  @ApiDownload('The file.')
  @Get(':id')
  download(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Id() id: string,
  ): Promise<ContentReply> {
    return this.attachments.download(ctx, taskId, id);
  }

  @Operation({
    tag: 'tasks',
    id: 'removeTaskAttachment',
    summary: 'Remove an attachment from a task',
    errors: [TaskErrors.notFound, Errors.forbidden, TaskErrors.deleted, Errors.invalidId],
  })
  @ApiRevision(200, RemovedTaskAttachmentEnvelope, 'The task as it is now.', 'task')
  @Delete(':id')
  remove(
    @Ctx() ctx: RequestContext,
    @Id('task_id') taskId: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.attachments.remove(ctx, taskId, id, key);
  }
}
