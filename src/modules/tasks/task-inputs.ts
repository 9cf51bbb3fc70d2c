import { Injectable } from '@nestjs/common';
import { canonicalZone } from '../../lib/recurrence/index.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { HtmlPolicy } from '../../platform/html/html-policy.js';
import { detailsAt, fieldError, Errors } from '../../platform/http/errors.js';
import { cleanHtmlField } from '../../platform/resources/html-field.js';
import { TenantsApi } from '../tenants/index.js';
import { canonicalRule } from './model/task-recurrence.js';
import type { NamedUser, ReferenceInput, ReminderInput } from './task-fields.dto.js';
import { keyFor } from '../../platform/resources/folders.js';
import { TaskReferences } from './responses/task-references.js';
import { type StoredReference, type StoredReminder, PRIORITIES, STATUSES } from './tasks.schema.js';
import { type CreateTask, type LinkedTask, TaskErrors, type UpdateTask } from './tasks.dto.js';
import type { TaskPatch } from './model/rules/task-merge.js';
import { TasksRepository } from './tasks.repository.js';

type StatusInput = Pick<UpdateTask, 'status' | 'done'>;

const NOT_A_MEMBER = 'is not a member of this workspace';

/** Converts input to patches: looks up users and references, cleans HTML, converts named values to numbers. */
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
   * @param taskId the task to change; missing for a new one
   * @throws ApiError 422
   */
  async fields(ctx: RequestContext, input: CreateTask | UpdateTask, taskId?: string): Promise<TaskPatch> {
    const patch = await this.common(ctx, input, taskId);
    Object.assign(patch, statusOf(await this.withOneStatus(ctx, input, taskId)));
    if (input.due_at !== undefined) patch.due_at = input.due_at;
    if (input.time_zone !== undefined) patch.time_zone = canonicalZone(input.time_zone) ?? undefined;
    if (input.labels !== undefined) patch.labels = input.labels;
    if (input.folder_id !== undefined) patch.folder_id = input.folder_id?.toLowerCase() ?? null;
    if (input.recurrence !== undefined) {
      const { rrule = '', from = 'schedule' } = input.recurrence ?? {};
      patch.recurrence = input.recurrence && { rrule: canonicalRule(rrule) ?? '', from };
    }
    if (input.reminders !== undefined) patch.reminders = input.reminders.map(reminderOf);
    if (input.position !== undefined) {
      const folder = async () =>
        input.folder_id === undefined && taskId
          ? this.tasks.folderOf(ctx, taskId)
          : (input.folder_id ?? null);
      const key = await keyFor(input.position, {
        first: async () => this.tasks.firstPosition(ctx, await folder()),
        neighbours: (id, side) => this.tasks.neighbours(ctx, id, side),
      });
      Object.assign(patch, key === undefined ? { last: true } : { position: key });
    }
    return patch;
  }

  /**
   * If `done` and `status` contradict each other, the one that differs from the stored task is used: the client has sent the
   * other one back unchanged.
   * @throws ApiError 422 when both differ, and for a new task
   */
  private async withOneStatus(
    ctx: RequestContext,
    { status, done }: StatusInput,
    taskId?: string,
  ): Promise<StatusInput> {
    if (status === undefined || done === undefined || done === (status === 'done')) return { status, done };
    const found = taskId === undefined ? null : await this.tasks.read(this.db, ctx, taskId);
    const before = found && (JSON.parse(found.task) as StatusInput).status;
    if (before === status) return { done };
    if (before && (before === 'done') === done) return { status };
    throw fieldError('done', 'contradiction', 'done and status contradict each other');
  }

  /** The fields that a task made from a note also has. */
  async common(ctx: RequestContext, input: LinkedTask, taskId?: string): Promise<TaskPatch> {
    const patch: TaskPatch = {};
    if (input.title !== undefined) patch.title = input.title.trim();
    if (input.description !== undefined) {
      patch.description =
        input.description === null ? null : await cleanHtmlField(this.html, 'description', input.description);
    }
    if (input.date !== undefined) patch.date = input.date;
    if (input.priority !== undefined) patch.priority = PRIORITIES.indexOf(input.priority);
    if (input.group !== undefined) patch.group = input.group?.trim() || null;
    if (input.assignees !== undefined) {
      patch.assignee_ids = [...new Set(await this.resolveNamed(ctx, 'assignees', input.assignees))];
    }
    if (input.references !== undefined) {
      const references = await this.stored(ctx, input.references, taskId);
      patch.refs = references;
      patch.linkable_notes = await this.references.editableNotes(this.db, ctx, references);
    }
    return patch;
  }

  /**
   * Looks up members of the workspace.
   * @param field the field that names them, for the error
   * @returns their ids, in order
   * @throws ApiError 422 `unknown_user`
   */
  async resolveNamed(ctx: RequestContext, field: string, named: readonly NamedUser[]): Promise<string[]> {
    const found = await this.members(ctx, named);
    const unknown = found.flatMap((id, n) => (id === undefined ? [n] : []));
    if (unknown.length > 0) {
      const details = detailsAt(field, unknown, 'unknown_user', NOT_A_MEMBER);
      throw TaskErrors.unknownUser.with({ details });
    }
    return found as string[];
  }

  /** Looks up the assignee of a subtask, as `resolveNamed` does for a list. @throws ApiError 422 `unknown_user` */
  async assignee(ctx: RequestContext, named: NamedUser): Promise<string> {
    const [id] = await this.members(ctx, [named]);
    if (id !== undefined) return id;
    const details = [{ field: 'assignee', code: 'unknown_user', message: `assignee ${NOT_A_MEMBER}` }];
    throw TaskErrors.unknownUser.with({ details });
  }

  private async members(ctx: RequestContext, named: readonly NamedUser[]): Promise<(string | undefined)[]> {
    const names = named.map(({ id, user_id, email }) => (id ?? user_id ?? email ?? '').trim());
    const found = await this.tenants.findMembers(ctx.tenantId, names.filter(Boolean));
    return names.map((name) => found.get(name));
  }

  private async stored(
    ctx: RequestContext,
    given: readonly ReferenceInput[],
    taskId?: string,
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
    const unknown = await this.unknownReferences(ctx, stored, taskId);
    if (unknown.length > 0) {
      throw Errors.validationFailed.with({
        details: unknown.map((n) => ({
          field: `references.${n}`,
          code: 'unknown_reference',
          message: `references.${n} does not exist, or you cannot read it`,
        })),
      });
    }
    return [...new Map(stored.map((reference) => [keyOf(reference), reference])).values()];
  }

  /**
   * @returns positions of references that are unknown or that the caller cannot read. Those that the task has are known: a
   *   client sends back what it read.
   */
  private async unknownReferences(
    ctx: RequestContext,
    references: readonly StoredReference[],
    taskId?: string,
  ): Promise<number[]> {
    const unreadable = await this.references.findUnreadable(this.db, ctx, references);
    if (unreadable.length === 0 || taskId === undefined) return unreadable;
    const { refs = null } = (await this.tasks.read(this.db, ctx, taskId)) ?? {};
    const present = new Set((JSON.parse(refs ?? '[]') as StoredReference[]).map(keyOf));
    return unreadable.filter((n) => !present.has(keyOf(references[n] as StoredReference)));
  }
}

const keyOf = ({ type, id, url }: StoredReference): string => `${type} ${id ?? url}`;

function reminderOf({ at, minutes_before }: ReminderInput, n: number): StoredReminder {
  const field = `reminders.${n}`;
  if (at && minutes_before === undefined) return { at: at.toISOString() };
  if (minutes_before !== undefined && !at) return { minutes_before };
  throw fieldError(field, 'one_of', `${field} needs either at or minutes_before`);
}

function statusOf({ status, done }: StatusInput): TaskPatch {
  if (status !== undefined) return { status: STATUSES.indexOf(status) };
  if (done === undefined) return {};
  return done ? { status: STATUSES.indexOf('done') } : { reopen: true };
}
