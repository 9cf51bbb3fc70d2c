import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { TaskAnswers, fieldError, listReply } from '../task-results.js';
import type { WriteComment } from './task-comments.dto.js';
import { type CommentRow, TaskPartsRepository } from './task-parts.repository.js';
import { TaskReferences } from '../task-references.js';
import { TaskErrors } from '../tasks.errors.js';

/** How many comments, and how much of the history, the panel shows. */
const PANEL_PAGE = 50;

/** What people say about a task, and everything about one at a glance. */
@Injectable()
export class TaskPartsService {
  constructor(
    private readonly parts: TaskPartsRepository,
    private readonly answers: TaskAnswers,
    private readonly references: TaskReferences,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  async comment(
    ctx: RequestContext,
    task: string,
    key: IdempotencyKey | null,
    given: Checked<WriteComment>,
  ): Promise<JsonReply> {
    const { body, error } = bodyOf(given);
    const id = uuidv7();
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.parts.createComment(tx, ctx, task, id, body);
      this.outbox.notice(tx);
      const extras = { status: 201, location: `/apis/v1/tasks/${task}/comments/${id}`, wrong: error };
      const more = { comment: result.part ?? 'null' };
      return this.answers.reply(key === null ? this.db : tx, ctx, task, result, { ...extras, more });
    });
  }

  /** Only its author may. */
  async editComment(
    ctx: RequestContext,
    task: string,
    id: string,
    given: Checked<WriteComment>,
  ): Promise<JsonReply> {
    const { body, error } = bodyOf(given);
    return this.db.single(async (tx) => {
      const result = await this.parts.editComment(tx, ctx, task, id, body);
      this.outbox.notice(tx);
      const more = { comment: result.part ?? 'null' };
      return this.answers.reply(this.db, ctx, task, result, { wrong: error, more });
    });
  }

  /** Its author may, and who made the task. */
  async deleteComment(ctx: RequestContext, task: string, id: string): Promise<JsonReply> {
    return this.db.single(async (tx) => {
      const result = await this.parts.deleteComment(tx, ctx, task, id);
      this.outbox.notice(tx);
      return this.answers.reply(this.db, ctx, task, result, { more: { deleted: 'true' } });
    });
  }

  /** @throws ApiError 404 */
  async comments(ctx: RequestContext, task: string, query: PageQuery): Promise<JsonReply> {
    const page = commentsPage(ctx, task);
    const after =
      query.cursor === undefined ? undefined : (this.cursors.read(page, query.cursor) as [string, string]);
    const rows = await this.parts.listComments(ctx, task, after, query.limit + 1);
    if (!rows) throw TaskErrors.notFound.with();
    const { texts, next } = this.commentPage(page, rows, query.limit);
    return listReply('comments', texts, next);
  }

  /** @throws ApiError 404 */
  async panel(ctx: RequestContext, id: string): Promise<JsonReply> {
    const row = await this.parts.panel(ctx, id, PANEL_PAGE);
    const rows = row && (await this.parts.listComments(ctx, id, undefined, PANEL_PAGE + 1));
    if (!row || !rows) throw TaskErrors.notFound.with();
    const [task = 'null'] = await this.references.complete(this.db, ctx, [row]);
    const { texts, next } = this.commentPage(commentsPage(ctx, id), rows, PANEL_PAGE);
    const members = {
      task,
      subtasks: row.subtasks,
      comments: `[${texts.join(',')}]`,
      comments_next: JSON.stringify(next),
      attachments: row.attachments,
      activity: row.activity,
      linked_notes: JSON.stringify(linkedNotes(task)),
      permissions: JSON.stringify({
        update: row.role !== 'viewer' && !row.deleted,
        delete: row.role === 'owner' && !row.deleted,
        comment: !row.deleted,
      }),
    };
    return new JsonReply(
      `{${Object.entries(members)
        .map(([name, json]) => `"${name}":${json}`)
        .join(',')}}`,
    );
  }

  private commentPage(
    page: string,
    rows: CommentRow[],
    limit: number,
  ): { texts: string[]; next: string | null } {
    const given = rows.slice(0, limit);
    const last = given.at(-1);
    const next =
      last && rows.length > limit
        ? this.cursors.write(page, [last.created_at as string, last.id as string])
        : null;
    return { texts: given.map((row) => row.comment as string), next };
  }
}

const commentsPage = ({ tenantId, userId }: RequestContext, task: string) =>
  `task_comments ${tenantId} ${userId} ${task}`;

/** Those the task refers to; without a title, and not readable, for who may not see one. */
function linkedNotes(task: string): { id: string; title: string | null; readable: boolean }[] {
  const { references } = JSON.parse(task) as {
    references: { type: string; id: string; title: string | null }[];
  };
  return references.flatMap(({ type, id, title }) =>
    type === 'note' ? [{ id, title, readable: title !== null }] : [],
  );
}

function bodyOf(given: Checked<WriteComment>): { body: string | null; error?: ApiError } {
  if (given.error) return { body: null, error: given.error };
  const { body, text, content } = given.value;
  const said = body ?? text ?? content;
  if (said !== undefined) return { body: said };
  return { body: null, error: fieldError('body', 'is_not_empty', 'body must not be empty') };
}
