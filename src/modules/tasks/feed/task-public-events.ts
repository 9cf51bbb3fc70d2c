import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { TaskReferences } from '../responses/task-references.js';
import { TaskResponse } from '../tasks.dto.js';
import { TaskEvents } from '../tasks.events.js';
import { TasksRepository } from '../tasks.repository.js';

const folder = workspace.statement<{ id: string }>(
  'task_folders.filters_events',
  `SELECT id FROM task_folder_views WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

const TASK_EVENTS = publicEvents(
  {
    kind: 'task',
    object: TaskResponse,
    facts: {
      task_id: FACTS.id,
      revision: FACTS.revision,
      actor_id: FACTS.user,
      changed: { type: 'array', items: { type: 'string' }, example: ['title'] },
      comment_id: FACTS.id,
      next_task_id: FACTS.user,
    },
    filters: ['folder_id'],
  },
  {
    [TaskEvents.created]: 'A task was created.',
    [TaskEvents.updated]:
      'Fields of a task changed, named by `changed`; also its comments, subtasks and attachments.',
    [TaskEvents.assigned]: 'The assignees of a task changed.',
    [TaskEvents.completed]: 'A task was completed. `next_task_id`: its next occurrence.',
    [TaskEvents.commented]: 'A comment was added to a task.',
    [TaskEvents.due]: 'A task became due.',
    [TaskEvents.overdue]: 'The due day of an open task ended.',
    [TaskEvents.deleted]: 'A task was moved to the trash.',
    [TaskEvents.restored]: 'A task was taken out of the trash.',
  },
);

/** The events of tasks that programs of others receive. */
@Injectable()
export class TaskPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly tasks: TasksRepository,
    private readonly references: TaskReferences,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.events.registerFilter(
      'folder_id',
      async ({ tenantId, userId }, id) => (await this.db.query(folder, [tenantId, userId, id])).length > 0,
    );
    this.events.register(TASK_EVENTS, {
      many: async (ctx, facts) => {
        const found = await this.tasks.readMany(
          ctx,
          facts.map(({ task_id: id }) => id as string),
        );
        const texts = await this.references.complete(this.db, ctx, found);
        const byId = new Map(found.map(({ id }, n) => [id, texts[n]]));
        return facts.map(({ task_id: id }) => byId.get(id as string));
      },
    });
  }
}
