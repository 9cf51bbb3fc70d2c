import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import type { ListTasks } from './task-list.dto.js';
import { TaskReferences } from '../responses/task-references.js';
import { TaskListRepository } from './task-list.repository.js';
import type { TASKS } from '../tasks.errors.js';

/** Pages of tasks. */
@Injectable()
export class TaskListsService {
  constructor(
    private readonly lists: TaskListRepository,
    private readonly references: TaskReferences,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, given: ListTasks): Promise<ReplyOf<typeof TASKS, 'list'>> {
    const { limit: _, cursor, ...filters } = given;
    const ascending = ['date', 'position', 'title'].includes(given.sort);
    const query = {
      ...given,
      folder_id: given.folder_id?.toLowerCase(),
      note_id: given.note_id?.toLowerCase(),
      assignee: given.assignee?.toLowerCase(),
      order: given.order ?? (ascending ? ('asc' as const) : ('desc' as const)),
    };
    const scope = JSON.stringify(Object.entries({ ...filters, order: query.order }).toSorted());
    const page = `tasks ${ctx.tenantId} ${ctx.userId} ${scope}`;
    const after = cursor === undefined ? undefined : (this.cursors.read(page, cursor) as [string, string]);
    const rows = await this.lists.list(ctx, { ...query, after });
    const shown = rows.flatMap(({ id, key, task, refs }) => (task === null ? [] : [{ id, key, task, refs }]));
    const last = shown.at(-1);
    const next = last && rows.length > shown.length ? this.cursors.write(page, [last.key, last.id]) : null;
    return JsonReply.listOf('tasks', await this.references.complete(this.db, ctx, shown), { next });
  }
}
