import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { HtmlPolicy } from '../../platform/html/html-policy.js';
import { detailsAt, fieldError, Errors } from '../../platform/http/errors.js';
import { cleanHtmlField } from '../../platform/resources/html-field.js';
import { TenantsApi } from '../tenants/index.js';
import { canonicalRule } from './schedule/task-recurrence.js';
import { TimeZones } from './schedule/time-zones.js';
import type { NamedUser, ReferenceInput, ReminderInput } from './task-fields.dto.js';
import { keyFor } from '../../platform/resources/manual-order.js';
import { TaskReferences } from './responses/task-references.js';
import { type StoredReference, type StoredReminder, PRIORITIES, STATUSES } from './task.entity.js';
import type { CreateTask, LinkedTask, UpdateTask } from './tasks.dto.js';
import { TaskErrors } from './tasks.errors.js';
import { type TaskPatch, TasksRepository } from './tasks.repository.js';

/** Converts input to patches: looks up users and references, cleans HTML, converts named values to numbers. */
@Injectable()
export class TaskInputs {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly html: HtmlPolicy,
    private readonly references: TaskReferences,
    private readonly tasks: TasksRepository,
    private readonly zones: TimeZones,
    private readonly db: Db,
  ) {}

  /**
   * @param folder reads the folder in which the caller sees the task, for a position without a folder
   * @throws ApiError 422
   */
  async fields(
    ctx: RequestContext,
    input: CreateTask | UpdateTask,
    folder: () => Promise<string | null> = async () => null,
  ): Promise<TaskPatch> {
    const patch = await this.common(ctx, input);
    Object.assign(patch, statusOf(input));
    if (input.due_at !== undefined) patch['due_at'] = input.due_at?.toISOString() ?? null;
    if (input.time_zone !== undefined) patch['time_zone'] = await this.zones.canonical(input.time_zone);
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

  /** The fields that a task made from a note has too. */
  async common(ctx: RequestContext, input: LinkedTask): Promise<TaskPatch> {
    const patch: TaskPatch = {};
    if (input.title !== undefined) patch['title'] = input.title.trim();
    if (input.description !== undefined) {
      patch['description'] =
        input.description === null ? null : await cleanHtmlField(this.html, 'description', input.description);
    }
    if (input.date !== undefined) patch['date'] = input.date;
    if (input.priority !== undefined) patch['priority'] = PRIORITIES.indexOf(input.priority);
    if (input.group !== undefined) patch['group'] = input.group?.trim() || null;
    if (input.assignees !== undefined) {
      patch['assignee_ids'] = [...new Set(await this.named(ctx, 'assignees', input.assignees))];
    }
    if (input.references !== undefined) {
      const references = await this.stored(ctx, input.references);
      patch['refs'] = references;
      patch['linkable_notes'] = await this.references.editableNotes(this.db, ctx, references);
    }
    return patch;
  }

  /**
   * Looks up members of the workspace.
   * @param field the field that names them, for the error
   * @returns their ids, in order
   * @throws ApiError 422 `unknown_user`
   */
  async named(ctx: RequestContext, field: string, named: readonly NamedUser[]): Promise<string[]> {
    const names = named.map(({ id, user_id, email }) => (id ?? user_id ?? email ?? '').trim());
    const found = await this.tenants.findMembers(ctx.tenantId, names.filter(Boolean));
    const unknown = names.flatMap((name, n) => (found.has(name) ? [] : [n]));
    if (unknown.length > 0) {
      const details = detailsAt(field, unknown, 'unknown_user', 'is not a member of this workspace');
      throw TaskErrors.unknownUser.with({ details });
    }
    return names.map((name) => found.get(name) as string);
  }

  private async stored(ctx: RequestContext, given: readonly ReferenceInput[]): Promise<StoredReference[]> {
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
    const unreadable = await this.references.unreadable(this.db, ctx, stored);
    if (unreadable.length > 0) {
      throw Errors.validationFailed.with({
        details: unreadable.map((n) => ({
          field: `references.${n}`,
          code: 'unknown_reference',
          message: `references.${n} does not exist, or you cannot read it`,
        })),
      });
    }
    return [...new Map(stored.map((ref) => [`${ref.type} ${ref.id ?? ref.url}`, ref])).values()];
  }
}

function reminderOf({ at, minutes_before }: ReminderInput, n: number): StoredReminder {
  const field = `reminders.${n}`;
  if (at && minutes_before === undefined) return { at: at.toISOString() };
  if (minutes_before !== undefined && !at) return { minutes_before };
  throw fieldError(field, 'one_of', `${field} needs either at or minutes_before`);
}

/** @throws ApiError 422 when `done` and `status` contradict each other */
function statusOf({ status, done }: UpdateTask): TaskPatch {
  if (status !== undefined && done !== undefined && done !== (status === 'done')) {
    throw fieldError('done', 'contradiction', 'done and status contradict each other');
  }
  if (status !== undefined) return { status: STATUSES.indexOf(status) };
  if (done === undefined) return {};
  return done ? { status: STATUSES.indexOf('done') } : { reopen: true };
}
