import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { readerLexeme } from '../../../../lib/search-text/index.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { Outbox } from '../../../../platform/events/outbox.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../../platform/jobs/periodic-jobs.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import { RelatedItems } from '../../../../platform/references/related-items.js';
import { ItemIndexer } from '../../../../platform/search/item-indexer.js';
import { type Found, ItemSearch } from '../../../../platform/search/item-search.js';
import {
  inFolder,
  type SearchFilter,
  type SearchRow,
} from '../../../../platform/search/item-search.repository.js';
import type { SearchTables } from '../../../../platform/search/search-tables.js';
import { TaskReferences } from '../../responses/task-references.js';
import { TaskEvents } from '../../tasks.events.js';
import { STATUSES, TASK_SUMMARY_BYTES, type TaskStatus } from '../../tasks.schema.js';
import { SearchTasks, TaskSearchEnvelope } from './task-search.dto.js';

/**
 * Search tables of tasks. The keys of a task are its creator, its assignees and the owner of its folder. A query therefore
 * matches the keys of the caller and of every owner who shares a folder with the caller; task_members then decides access.
 */
export const TASK_SEARCH: SearchTables = {
  name: 'tasks',
  items: 'tasks',
  index: 'task_search',
  members: 'task_members',
  view: 'task_views',
  shown: ['summary', 'refs'],
  item: 'task_id',
  readers: 'task_finders(item)',
  audience: 'task_finders_name(item)',
  body: 'item.description',
  bodyBytes: 'coalesce(octet_length(item.description), 0)',
  hitBytes: TASK_SUMMARY_BYTES,
  event: `event.type IN ('task.created', 'task.updated')`,
  // $3: the prefix of the lexemes of readers; the key of a reader follows it.
  findable: `(SELECT string_agg(format('''%s''', $3::text || keys.key), ' | ')::tsquery && $4::tsquery FROM (
        SELECT $2::uuid::text AS key
        UNION
        SELECT 'f' || folder.owner_id FROM task_folder_members member JOIN task_folders folder ON folder.tenant_id = $1 AND folder.id = member.folder_id
         WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.role IS NOT NULL) keys)`,
};

/** Keeps the search index of tasks up to date. */
@Injectable()
export class TaskIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, TASK_SEARCH, outbox, jobs, {
      name: 'task-search',
      types: [TaskEvents.created, TaskEvents.updated],
      often: [TaskEvents.created, TaskEvents.updated],
    });
  }
}

interface TaskSearchRow extends SearchRow {
  /** JSON of the task without its description and its references. */
  shown: string;
  refs: string | null;
}

/** Search among the tasks that the caller may see. */
@Injectable()
export class TaskSearchService extends ItemSearch<TaskSearchRow, TaskSearchEnvelope> {
  protected readonly plural = 'tasks';
  protected readonly bodyName = 'description';

  constructor(
    private readonly db: Db,
    indexer: TaskIndexer,
    cursors: Cursors,
    private readonly references: TaskReferences,
    related: RelatedItems,
  ) {
    super(db, indexer, cursors);
    related.register('tasks', (ctx, query) => this.findRelated(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, input: SearchTasks): Promise<JsonReply<TaskSearchEnvelope>> {
    const { q, limit, cursor, state, status } = input;
    const folder = input.folder_id?.toLowerCase();
    const filter = (bind: (value: unknown) => string) => filterOf(folder, status, bind);
    return this.respond(ctx, { q, limit, cursor, state, filter, values: [folder, status] });
  }

  protected composeFindable(): string {
    return readerLexeme('');
  }

  protected presentRows(ctx: RequestContext, rows: Found<TaskSearchRow>[]): Promise<string[]> {
    const texts = rows.map(({ shown: task, refs }) => ({ task, refs }));
    return this.references.complete(this.db, ctx, texts);
  }
}

function filterOf(
  folder: string | undefined,
  status: TaskStatus[] | undefined,
  bind: (value: unknown) => string,
): SearchFilter {
  let { variant, sql } = inFolder(folder, bind);
  if (status) {
    variant += '.status';
    const wanted = bind(status.map((name) => STATUSES.indexOf(name)));
    sql += ` AND EXISTS (SELECT FROM tasks task WHERE task.tenant_id = $1 AND task.id = member.task_id AND task.status = ANY (${wanted}::smallint[]))`;
  }
  return { variant, sql };
}

@ApiTags('tasks')
@Controller('search/tasks')
export class TaskSearchController {
  constructor(private readonly tasks: TaskSearchService) {}

  @Endpoint('GET', {
    id: 'searchTasks',
    summary: 'Search tasks',
    description:
      'Titles and descriptions of the tasks you can see, best match first. Your own changes are found at once, changes of others within about a second.',
    response: [TaskSearchEnvelope, 'A page of tasks.'],
    errors: [Errors.invalidCursor],
  })
  search(@Ctx() ctx: RequestContext, @Query() query: SearchTasks) {
    return this.tasks.search(ctx, query);
  }
}
