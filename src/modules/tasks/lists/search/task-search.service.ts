import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import { readerLexeme } from '../../../../lib/search-text/index.js';
import { RelatedItems } from '../../../../platform/references/related-items.js';
import { type Found, ItemSearch } from '../../../../platform/search/item-search.js';
import {
  inFolder,
  type SearchFilter,
  type SearchRow,
} from '../../../../platform/search/item-search.repository.js';
import { TaskIndexer } from './task-indexer.js';
import { TaskReferences } from '../../responses/task-references.js';
import type { SearchTasks } from './task-search.dto.js';
import { STATUSES, type TaskStatus } from '../../task.entity.js';
import type { TaskSearchEnvelope } from './task-search.response.js';

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
    related.register('tasks', (ctx, query) => this.related(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, input: SearchTasks): Promise<JsonReply<TaskSearchEnvelope>> {
    const { q, limit, cursor, state, status } = input;
    const folder = input.folder_id?.toLowerCase();
    const filter = (bind: (value: unknown) => string) => filterOf(folder, status, bind);
    return this.respond(ctx, { q, limit, cursor, state, filter, values: [folder, status] });
  }

  protected findable(): string {
    return readerLexeme('');
  }

  protected shown(ctx: RequestContext, rows: Found<TaskSearchRow>[]): Promise<string[]> {
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
