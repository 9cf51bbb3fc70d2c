import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import {
  type EventFacts,
  type EventFilterValues,
  FACTS,
  type FoundSubject,
  PublicEvents,
  publicEvents,
} from '../../../platform/events/public-events.js';
import { TaskReferences } from '../responses/task-references.js';
import { TaskResponse } from '../tasks.dto.js';
import { TaskEvents } from '../tasks.events.js';
import { TasksRepository } from '../tasks.repository.js';

const folder = workspace.statement<{ id: string }>(
  'task_folders.filters_events',
  `SELECT id FROM task_folder_views WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

// Purged tasks that the member saw.
const purged = workspace.statement<{ id: string }>(
  'tasks.purged_for',
  `SELECT task_id AS id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND task_id = ANY ($3::uuid[]) AND gone = 2
      AND ($4::uuid IS NULL OR left_folders[cardinality(left_folders)] = $4)`,
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
    [TaskEvents.deleted]:
      'A task was moved to the trash, or purged because the completed task before it in its series was opened again: it is null then.',
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
      many: (ctx, facts, filter) => this.readMany(ctx, facts, filter),
    });
  }

  private async readMany(
    ctx: RequestContext,
    facts: readonly EventFacts[],
    { folder_id: folder }: EventFilterValues,
  ): Promise<FoundSubject[]> {
    const ids = facts.map(({ task_id: id }) => id as string);
    const found = await this.tasks.readMany(ctx, ids);
    const texts = await this.references.complete(this.db, ctx, found);
    const byId = new Map<string, FoundSubject>(found.map(({ id }, n) => [id, texts[n]]));
    const missing = ids.filter((id) => !byId.has(id));
    if (missing.length > 0)
      for (const { id } of await this.db.query(purged, [ctx.tenantId, ctx.userId, missing, folder ?? null]))
        byId.set(id, null);
    return ids.map((id) => byId.get(id));
  }
}
