import { Injectable } from '@nestjs/common';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { containsSql, hasLabels } from '../../../platform/database/like.js';
import { StatementVariants } from '../../../platform/database/statement.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { TaskReferences } from '../responses/task-references.js';
import type { TASKS } from '../tasks.dto.js';
import { PRIORITIES, STATUSES, TASK_SUMMARY_BYTES } from '../tasks.schema.js';
import type { ListTasks } from './task-list.dto.js';

interface TaskListRow {
  id: string;
  /** The sort key as text that PostgreSQL parses. */
  key: string;
  /** Null for a row that does not fit into the page. */
  task: string | null;
  refs: string | null;
}

interface TaskListQuery extends ListTasks {
  order: 'asc' | 'desc';
  /** Key and id of the last row of the page before. */
  after?: [string, string];
}

interface SortKey {
  /** Expressions of the key and, below, of the id that breaks ties, as in the index. */
  sql: string;
  id: string;
  type: string;
}

/**
 * Sort keys. The first three are columns of task_members, whose indexes task_members_list, task_members_agenda
 * (open tasks) and task_members_board (within a folder) return the pages in order. For the order by title, index tasks_by_title,
 * whose last column is `id`, returns the caller's own tasks in order; the shared tasks are sorted. For the other keys, all tasks of
 * the caller are sorted.
 */
const SORT_KEYS: Record<ListTasks['sort'], SortKey> = {
  updated_at: { sql: 'member.listed_at', id: 'member.task_id', type: 'timestamptz' },
  date: { sql: 'member.due_on', id: 'member.task_id', type: 'date' },
  position: { sql: 'member.position', id: 'member.task_id', type: 'text COLLATE "C"' },
  created_at: { sql: 'task.created_at', id: 'member.task_id', type: 'timestamptz' },
  priority: { sql: 'task.priority', id: 'member.task_id', type: 'smallint' },
  title: { sql: 'task.title COLLATE title_order', id: 'task.id', type: 'text' },
};

/** Conditions for all tasks of the caller, own tasks and shared tasks. */
const SCOPES = {
  all: 'member.role IS NOT NULL',
  own: `task.tenant_id = $1 AND task.creator_id = $2 AND member.role = 'owner'`,
  shared: `member.role IN ('viewer', 'editor')`,
};

const STATES = { active: ' AND NOT member.trashed', trash: ' AND member.trashed', all: '' };
const OVERDUE = {
  // The condition on due_on uses the index: in any time zone, the due day of an overdue task is tomorrow at the latest.
  true: ` AND member.open AND member.due_on <= current_date + 1 AND task.overdue_at <= now()`,
  false: ` AND NOT (member.open AND coalesce(task.overdue_at <= now(), false))`,
};

const BYTES = `${TASK_SUMMARY_BYTES.replaceAll('item.', 'task.')} + coalesce(octet_length(task.description), 0)`;

const STATEMENTS = new StatementVariants<TaskListRow>('tasks.list');

/** Lists of tasks. */
@Injectable()
export class TaskListRepository {
  constructor(private readonly db: Db) {}

  /** At most `limit` + 1 rows; those that do not fit into the page come last, without JSON. */
  async list(ctx: RequestContext, query: TaskListQuery): Promise<TaskListRow[]> {
    const values: unknown[] = [ctx.tenantId, ctx.userId, query.limit, PAGE_BYTES];
    const filters = filtersOf(query, (value) => `$${values.push(value)}`);
    const key = SORT_KEYS[query.sort];
    const direction = query.order === 'asc' ? 'ASC' : 'DESC';
    const where = filters.join('');
    let after: string | undefined;
    if (query.after) {
      const [value, id] = query.after;
      after = `($${values.push(value)}::${key.type}, $${values.push(id)}::uuid)`;
    }
    const variant = `${key.sql} ${direction}${where}${after ? ` after ${after}` : ''}`;
    const statement = STATEMENTS.of(variant, () => pageText(query.sort, direction, where, after), {
      onReplica: true,
    });
    return this.db.query(statement, values);
  }
}

/** Tasks without a date are due at infinity: last, and in the descending order before all dates, so that they are last there too. */
const DATED = ` AND member.due_on < 'infinity'`;
const UNDATED = ` AND member.due_on = 'infinity'`;
const BEFORE_DATES = `'-infinity'::date`;

/** @param after SQL of the key and the id of the last row of the page before */
function pageText(
  sort: ListTasks['sort'],
  direction: 'ASC' | 'DESC',
  where: string,
  after: string | undefined,
): string {
  const { sql, id } = SORT_KEYS[sort];
  const rows = (scope: keyof typeof SCOPES, filter = '', key = sql): string =>
    `SELECT member.task_id, ${key} AS key, ${BYTES} AS bytes
       FROM task_members member JOIN tasks task ON task.tenant_id = member.tenant_id AND task.id = member.task_id
      WHERE member.tenant_id = $1 AND member.user_id = $2 AND ${SCOPES[scope]}${where}${filter}${
        after ? ` AND (${key}, ${id}) ${direction === 'ASC' ? '>' : '<'} ${after}` : ''
      }
      ORDER BY ${sql} ${direction}, ${id} ${direction} LIMIT $3 + 1`;
  const both = (first: string, second: string): string =>
    `(${first}) UNION ALL (${second}) ORDER BY key ${direction}, task_id ${direction} LIMIT $3 + 1`;
  let page: string;
  if (sort === 'title') page = both(rows('own'), rows('shared'));
  else if (sort === 'date' && direction === 'DESC')
    page = both(rows('all', DATED), rows('all', UNDATED, BEFORE_DATES));
  else page = rows('all');
  return `WITH page AS MATERIALIZED (${page}),
    sized AS MATERIALIZED (
      SELECT task_id, key, row_number() OVER page_order AS n, ${fitsPage('bytes', '$3', '$4')} AS fits
        FROM page WINDOW page_order AS (ORDER BY key ${direction}, task_id ${direction} ROWS UNBOUNDED PRECEDING))
    SELECT sized.task_id AS id, sized.key::text AS key, viewed.refs, viewed.task
      FROM sized
      LEFT JOIN LATERAL (
        SELECT shown.refs, shown.task FROM task_views shown
         WHERE sized.fits AND shown.tenant_id = $1 AND shown.user_id = $2 AND shown.task_id = sized.task_id OFFSET 0) viewed ON true
     ORDER BY sized.n`;
}

/** Conditions in a fixed order, so that requests with the same filters use the same prepared statement. */
function filtersOf(query: TaskListQuery, bind: (value: unknown) => string): string[] {
  const filters: string[] = [STATES[query.state]];
  const add = (condition: string) => void filters.push(` AND ${condition}`);
  const { folder_id: folder, assignee, status } = query;
  if (folder === 'none') add('member.folder_id IS NULL');
  else if (folder !== undefined) add(`member.folder_id = ${bind(folder)}`);
  if (query.group !== undefined) add(hasLabels('ARRAY[task.group_name]', bind([query.group])));
  if (status) {
    if (status.every((name) => name === 'open' || name === 'in_progress')) add('member.open');
    add(`task.status = ANY (${bind(status.map((name) => STATUSES.indexOf(name)))}::smallint[])`);
  }
  if (query.priority) {
    add(`task.priority = ANY (${bind(query.priority.map((name) => PRIORITIES.indexOf(name)))}::smallint[])`);
  }
  if (assignee === 'me') add('member.assigned');
  else if (assignee === 'none') add(`task.assignee_ids = '{}'`);
  // Index task_members_assigned: each assignee has a row in task_members.
  else if (assignee !== undefined)
    add(`EXISTS (SELECT FROM task_members other
      WHERE other.tenant_id = $1 AND other.user_id = ${bind(assignee)} AND other.task_id = member.task_id AND other.role IS NOT NULL AND other.assigned)`);
  if (query.date_from !== undefined)
    add(`member.due_on >= ${bind(query.date_from)}::date AND member.due_on < 'infinity'`);
  if (query.date_to !== undefined) add(`member.due_on <= ${bind(query.date_to)}::date`);
  if (query.overdue !== undefined) filters.push(OVERDUE[query.overdue]);
  if (query.note_id !== undefined) {
    // Index tasks_references.
    add(
      `task.tenant_id = $1 AND task.refs <> '[]' AND task.refs @> jsonb_build_array(jsonb_build_object('type', 'note', 'id', ${bind(query.note_id)}::text))`,
    );
  }
  if (query.label?.length) add(hasLabels('task.labels', bind(query.label)));
  if (query.q !== undefined) add(containsSql('task.title', query.q, bind));
  return filters;
}

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
