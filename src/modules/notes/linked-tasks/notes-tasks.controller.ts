import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.errors.js';
import { LinkedTask } from '../../tasks/index.js';
import { NoteErrors } from '../notes.errors.js';
import { NoteTaskEnvelope } from './notes-tasks.response.js';
import { NotesTasksService } from './notes-tasks.service.js';

const TASK_BODY_BYTES = 2 * 1024 * 1024;

@ApiTags('notes')
@Controller('notes')
export class NotesTasksController {
  constructor(private readonly tasks: NotesTasksService) {}

  @Endpoint('POST :id/task', {
    id: 'createTaskFromNote',
    summary: 'Create a task from a note',
    description:
      'The task refers to the note and the note links to the task; the revision of the note does not change. Default for the title: the title of the note.',
    status: 201,
    response: [NoteTaskEnvelope, 'The new task, and the note with its link.'],
    etag: 'note',
    optionalBody: true,
    example: { title: 'Book the rooms', date: '2026-12-01' },
    errors: [
      NoteErrors.notFound,
      Errors.forbidden,
      NoteErrors.deleted,
      NoteErrors.tooManyLinks,
      NoteErrors.unknownUser,
      QuotaErrors.exceeded,
    ],
  })
  @BodyLimit(TASK_BODY_BYTES)
  create(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(LinkedTask) body: Checked<LinkedTask>,
  ) {
    return this.tasks.create(ctx, id, key, body);
  }
}
