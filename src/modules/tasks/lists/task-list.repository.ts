import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace, type Statement } from '../../../platform/database/statement.js';
import type { ListTasks } from '../task-list.dto.js';
import { PRIORITIES, STATUSES } from '../task.entity.js';

export interface TaskListRow {
  id: string;
  /** The value sorted by, as text PostgreSQL reads back. */
  key: string;
  /** Null where the row exists but did not fit the page. */
  task: string | null;
  refs: string | null;
}

export interface TaskListQuery extends ListTasks {
  order: 'asc' | 'desc';
  /** Key and id of the last row of the page before. */
  after?: [string, string];
}

/**
 * What pages are sorted by. The first three stand in task_members, whose indexes task_members_list, task_members_agenda
 * (open tasks) and task_members_board (within a folder) give the pages in order; the others sort the caller's own tasks.
 */
const SORT_KEYS = {
  updated_at: { sql: 'm.listed_at', type: 'timestamptz' },
  date: { sql: 'm.due_on', type: 'date' },
  position: { sql: 'm.position', type: 'text COLLATE "C"' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  priority: { sql: 't.priority', type: 'smallint' },
} as const;

const STATES = { active: ' AND NOT m.trashed', trash: ' AND m.trashed', all: '' };
const OVERDUE = {
  // The day comes first because the index has it: everything overdue is due tomorrow at the latest, wherever one is.
  true: ` AND m.open AND m.due_on <= current_date + 1 AND t.overdue_at <= now()`,
  false: ` AND NOT (m.open AND coalesce(t.overdue_at <= now(), false))`,
};

/** Bytes of one page, roughly; the first task is given out whatever its size. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Combinations of filters kept prepared; rarer ones are planned each time, so that nobody fills the connections. */
const MAX_PREPARED = 200;

const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Lists of tasks. Each combination of filters is a statement of its own, so that each is planned for its index. */
@Injectable()
export class TaskListRepository {
  private readonly statements = new Map<string, Statement<TaskListRow>>();

  constructor(private readonly db: Db) {}

  /** At most `limit` + 1 rows; those that did not fit the page come last, without JSON. */
  async list(ctx: RequestContext, query: TaskListQuery): Promise<TaskListRow[]> {
    const values: unknown[] = [ctx.tenantId, ctx.userId, query.limit, PAGE_BYTES];
    const filters = filtersOf(query, (value) => `$${values.push(value)}`);
    const { sql, type } = SORT_KEYS[query.sort];
    const direction = query.order === 'asc' ? 'ASC' : 'DESC';
    let where = filters.join('');
    if (query.after) {
      const [key, id] = query.after;
      const compare = query.order === 'asc' ? '>' : '<';
      const [keyParameter, idParameter] = [`$${values.push(key)}`, `$${values.push(id)}`];
      where += ` AND (${sql}, m.task_id) ${compare} (${keyParameter}::${type}, ${idParameter}::uuid)`;
    }
    return this.db.query(this.statement(`${sql} ${direction}${where}`, sql, direction, where), values);
  }

  private statement(variant: string, key: string, direction: string, where: string): Statement<TaskListRow> {
    const known = this.statements.get(variant);
    if (known) return known;
    const text = `WITH page AS MATERIALIZED (
        SELECT m.task_id, ${key} AS key, 2048 + coalesce(octet_length(t.description), 0) + 1024 * t.subtasks_count AS bytes
          FROM task_members m JOIN tasks t ON t.tenant_id = m.tenant_id AND t.id = m.task_id
         WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.role IS NOT NULL${where}
         ORDER BY ${key} ${direction}, m.task_id ${direction} LIMIT $3 + 1),
      sized AS (
        SELECT task_id, key, row_number() OVER w AS n, sum(bytes) OVER w AS total
          FROM page WINDOW w AS (ORDER BY key ${direction}, task_id ${direction} ROWS UNBOUNDED PRECEDING))
      SELECT s.task_id AS id, s.key::text AS key, v.refs,
             CASE WHEN s.n <= $3 AND (s.n = 1 OR s.total <= $4) THEN v.task END AS task
        FROM sized s JOIN task_views v ON v.tenant_id = $1 AND v.user_id = $2 AND v.task_id = s.task_id
       ORDER BY s.n`;
    if (this.statements.size >= MAX_PREPARED) return workspace.statement<TaskListRow>('', text);
    const made = workspace.statement<TaskListRow>(`tasks.list.${this.statements.size}`, text);
    this.statements.set(variant, made);
    return made;
  }
}

/** Conditions in a fixed order, so that the text, and with it the prepared statement, depends only on which there are. */
function filtersOf(query: TaskListQuery, bind: (value: unknown) => string): string[] {
  const filters: string[] = [STATES[query.state]];
  const add = (condition: string) => void filters.push(` AND ${condition}`);
  const { folder_id: folder, assignee, status } = query;
  if (folder === 'none') add('m.folder_id IS NULL');
  else if (folder !== undefined) add(`m.folder_id = ${bind(folder)}`);
  if (query.group !== undefined) add(`t.group_name = ${bind(query.group)}`);
  if (status) {
    if (status.every((name) => name === 'open' || name === 'in_progress')) add('m.open');
    add(`t.status = ANY (${bind(status.map((name) => STATUSES.indexOf(name)))}::smallint[])`);
  }
  if (query.priority) {
    add(`t.priority = ANY (${bind(query.priority.map((name) => PRIORITIES.indexOf(name)))}::smallint[])`);
  }
  if (assignee === 'me') add('m.assigned');
  else if (assignee === 'none') add(`t.assignee_ids = '{}'`);
  // Index task_members_assigned, of the other's rows: whoever is assigned a task sees it.
  else if (assignee !== undefined)
    add(`EXISTS (SELECT FROM task_members a
      WHERE a.tenant_id = $1 AND a.user_id = ${bind(assignee)} AND a.task_id = m.task_id AND a.role IS NOT NULL AND a.assigned)`);
  if (query.date_from !== undefined)
    add(`m.due_on >= ${bind(query.date_from)}::date AND m.due_on < 'infinity'`);
  if (query.date_to !== undefined) add(`m.due_on <= ${bind(query.date_to)}::date`);
  if (query.overdue !== undefined) filters.push(OVERDUE[query.overdue]);
  if (query.note_id !== undefined) {
    // Index tasks_references.
    add(
      `t.tenant_id = $1 AND t.refs <> '[]' AND t.refs @> jsonb_build_array(jsonb_build_object('type', 'note', 'id', ${bind(query.note_id)}::text))`,
    );
  }
  if (query.label?.length) add(`t.labels @> ${bind(query.label)}::text[]`);
  if (query.q !== undefined) add(`t.title ILIKE ${bind(likePattern(query.q))}`);
  return filters;
}
