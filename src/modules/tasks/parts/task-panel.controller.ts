import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskReferences } from '../responses/task-references.js';
import { TaskErrors } from '../tasks.dto.js';
import { TaskCommentsService } from './task-comments.controller.js';
import { TaskPartsRepository } from './task-parts.repository.js';
import { type LinkedNoteResponse, TaskPanelResponse } from './task-parts.dto.js';
import { panelReply } from './task-parts.presenter.js';

/** Number of comments and of entries of the history in the panel. */
const PANEL_PAGE = 50;

@ApiTags('tasks')
@Controller('tasks')
export class TaskPanelController {
  constructor(
    private readonly parts: TaskPartsRepository,
    private readonly comments: TaskCommentsService,
    private readonly references: TaskReferences,
    private readonly db: Db,
  ) {}

  @Endpoint('GET :id/panel', {
    id: 'readTaskPanel',
    summary: 'Read a task with all its parts',
    description:
      'With its newest comments, its history (for others than its creator: since they see the task), the notes it refers to and your permissions.',
    response: [TaskPanelResponse, 'The panel.'],
    errors: [TaskErrors.notFound],
  })
  async panel(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply<TaskPanelResponse>> {
    const row = await this.parts.panel(ctx, id, PANEL_PAGE);
    if (!row) throw TaskErrors.notFound.with();
    const { rows, next } = await this.comments.page(ctx, id, { limit: PANEL_PAGE });
    const [task = 'null'] = await this.references.complete(this.db, ctx, [row]);
    const { subtasks, attachments, activity, role, deleted } = row;
    const comments = `[${rows.map(({ comment }) => comment).join(',')}]`;
    return panelReply(
      { task, subtasks, comments, attachments, activity },
      {
        comments_next: next,
        linked_notes: linkedNotes(task),
        permissions: {
          update: role !== 'viewer' && !deleted,
          delete: role === 'owner' && !deleted,
          comment: !deleted,
        },
      },
    );
  }
}

/** The notes that the task refers to; title null and not readable for notes that the caller cannot read. */
function linkedNotes(task: string): LinkedNoteResponse[] {
  const { references } = JSON.parse(task) as {
    references: { type: string; id: string; title: string | null }[];
  };
  return references.flatMap(({ type, id, title }) =>
    type === 'note' ? [{ id, title, readable: title !== null }] : [],
  );
}
