import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Reader } from '../../platform/database/tx.js';
import { HtmlPolicy, HtmlTooComplexError } from '../../platform/html/html-policy.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { Errors } from '../../platform/http/errors.js';
import { TenantsApi } from '../tenants/index.js';
import { type StoredReference, type StoredReminder, PRIORITIES, STATUSES } from './task.entity.js';
import { fieldError } from './task-results.js';
import type { NamedPerson, ReferenceInput, ReminderInput } from './task-fields.dto.js';
import { keyFor } from './task-positions.js';
import { canonicalRule } from './schedule/task-recurrence.js';
import { TaskReferences } from './task-references.js';
import type { CreateTask, LinkedTask, UpdateTask } from './tasks.dto.js';
import { TaskErrors } from './tasks.errors.js';
import { type TaskPatch, TasksRepository } from './tasks.repository.js';

/** Turns what a client sent into what is stored: people and references found, HTML checked, names of values to numbers. */
@Injectable()
export class TaskInputs {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly html: HtmlPolicy,
    private readonly references: TaskReferences,
    private readonly tasks: TasksRepository,
    private readonly db: Db,
  ) {}

  /**
   * @param folder where the task is as the caller sees it, unless the input says
   * @throws ApiError 422
   */
  async fields(
    ctx: RequestContext,
    input: CreateTask | UpdateTask,
    folder: () => Promise<string | null> = async () => null,
  ): Promise<TaskPatch> {
    const patch = await this.common(this.db, ctx, input);
    Object.assign(patch, statusOf(input));
    if (input.due_at !== undefined) patch['due_at'] = input.due_at?.toISOString() ?? null;
    if (input.time_zone !== undefined) patch['time_zone'] = input.time_zone;
    if (input.labels !== undefined) patch['labels'] = input.labels;
    if (input.folder_id !== undefined) patch['folder_id'] = input.folder_id?.toLowerCase() ?? null;
    if (input.recurrence !== undefined) {
      const { rrule = '', from = 'schedule' } = input.recurrence ?? {};
      patch['recurrence'] = input.recurrence && { rrule: canonicalRule(rrule), from };
    }
    if (input.reminders !== undefined) patch['reminders'] = input.reminders.map(reminderOf);
    if (input.position !== undefined) {
      const key = await keyFor(input.position, {
        first: async () =>
          this.tasks.firstPosition(ctx, input.folder_id === undefined ? await folder() : input.folder_id),
        neighbours: (id, side) => this.tasks.neighbours(ctx, id, side),
      });
      patch[key === undefined ? 'last' : 'position'] = key ?? true;
    }
    return patch;
  }

  /** The same for a body that may be wrong, which is not yet the time to say. */
  async checked(
    ctx: RequestContext,
    body: Checked<UpdateTask>,
    folder: () => Promise<string | null>,
  ): Promise<{ patch: TaskPatch | null; error?: ApiError }> {
    if (body.error) return { patch: null, error: body.error };
    try {
      return { patch: await this.fields(ctx, body.value, folder) };
    } catch (error) {
      if (error instanceof ApiError) return { patch: null, error };
      throw error;
    }
  }

  /** What every kind of task carries. @param reader the transaction that will write, or the pool */
  async common(reader: Reader, ctx: RequestContext, input: LinkedTask): Promise<TaskPatch> {
    const patch: TaskPatch = {};
    if (input.title !== undefined) patch['title'] = input.title.trim();
    if (input.description !== undefined) {
      patch['description'] = input.description === null ? null : await this.safe(input.description);
    }
    if (input.date !== undefined) patch['date'] = input.date;
    if (input.priority !== undefined) patch['priority'] = PRIORITIES.indexOf(input.priority);
    if (input.group !== undefined) patch['group'] = input.group?.trim() || null;
    if (input.assignees !== undefined) {
      patch['assignee_ids'] = [...new Set(await this.named(ctx, 'assignees', input.assignees))];
    }
    if (input.references !== undefined) patch['refs'] = await this.refs(reader, ctx, input.references);
    return patch;
  }

  /**
   * The ids of people, one for each named.
   * @param field where they were named, for the refusal
   * @throws ApiError 422 `unknown_user` for who is not a member of the workspace
   */
  async named(ctx: RequestContext, field: string, named: readonly NamedPerson[]): Promise<string[]> {
    const names = named.map(({ id, user_id, email }) => (id ?? user_id ?? email ?? '').trim());
    const found = await this.tenants.findMembers(ctx.tenantId, names.filter(Boolean));
    const unknown = names.flatMap((name, n) => (found.has(name) ? [] : [n]));
    if (unknown.length > 0) {
      const details = unknown.map((n) => ({
        field: `${field}.${n}`,
        code: 'unknown_user',
        message: `${field}.${n} is not a member of this workspace`,
      }));
      throw TaskErrors.unknownUser.with({ details });
    }
    return names.map((name) => found.get(name) as string);
  }

  private async refs(
    reader: Reader,
    ctx: RequestContext,
    given: readonly ReferenceInput[],
  ): Promise<StoredReference[]> {
    const incomplete = given.findIndex(({ type, id, url }) => !(type === 'url' ? url : id));
    if (incomplete >= 0) {
      const field = `references.${incomplete}`;
      throw fieldError(field, 'is_not_empty', `${field} needs an id, or for url a url`);
    }
    const stored = given.map(({ type, id, url, title }) =>
      type === 'url'
        ? { type, url: url ?? '', ...(title && { title }) }
        : { type, id: (id ?? '').toLowerCase() },
    );
    const unreadable = await this.references.unreadable(reader, ctx, stored);
    if (unreadable.length > 0) {
      throw Errors.validationFailed.with({
        details: unreadable.map((n) => ({
          field: `references.${n}`,
          code: 'unknown_reference',
          message: `references.${n} is nothing you can see`,
        })),
      });
    }
    return [...new Map(stored.map((ref) => [`${ref.type} ${ref.id ?? ref.url}`, ref])).values()];
  }

  private async safe(description: string): Promise<string> {
    try {
      return await this.html.check(description);
    } catch (error) {
      if (!(error instanceof HtmlTooComplexError)) throw error;
      throw fieldError(
        'description',
        error.code,
        'description is nested too deeply or has too many elements',
      );
    }
  }
}

function reminderOf({ at, minutes_before }: ReminderInput, n: number): StoredReminder {
  const field = `reminders.${n}`;
  if (at && minutes_before === undefined) return { at: at.toISOString() };
  if (minutes_before !== undefined && !at) return { minutes_before };
  throw fieldError(field, 'one_of', `${field} needs either at or minutes_before`);
}

/** `done` and `status` say the same thing, or are refused. */
function statusOf({ status, done }: UpdateTask): TaskPatch {
  if (status !== undefined && done !== undefined && done !== (status === 'done')) {
    throw fieldError('done', 'contradiction', 'done and status contradict each other');
  }
  if (status !== undefined) return { status: STATUSES.indexOf(status) };
  if (done === undefined) return {};
  return done ? { status: STATUSES.indexOf('done') } : { reopen: true };
}
