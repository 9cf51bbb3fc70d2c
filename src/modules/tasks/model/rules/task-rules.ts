import { type ApiError, Errors } from '../../../../platform/http/errors.js';
import { inactiveUsers, noDate, TaskErrors, unknownFolder } from '../../tasks.dto.js';
import type { StoredRecurrence, TaskRole } from '../../tasks.schema.js';
import { followingOccurrence, nextTodo } from '../next-todo.js';
import { type Occurrence, withoutLastDay } from '../task-recurrence.js';
import { changesOf, mergeTask, MIN_DUE, stillKept, type TaskPatch } from './task-merge.js';
import { DONE, mayWrite, type TaskChange, type TaskEvent, type TaskRow } from './task-row.js';
import { momentsOf } from './task-times.js';

/** The next occurrence of a completed task: an open copy at its time. @param task as it is after the completion */
export function repeatTask(
  task: TaskRow,
  occurrence: Occurrence,
  { id, userId, now }: { id: string; userId: string; now: Date },
): TaskChange {
  const { date, dueAt } = occurrence;
  const next: TaskRow = {
    ...task,
    ...nextTodo(task, occurrence),
    id,
    date,
    due_at: dueAt,
    recurrence: task.recurrence && placed(task.recurrence, occurrence),
    status: 0,
    completed_at: null,
    next_task_id: null,
    // Programs keep the completed occurrence under its UID.
    uid: null,
    comments_count: 0,
    revision: 1,
    created_at: now,
    updated_at: now,
    updated_by: userId,
  };
  Object.assign(next, momentsOf(next, now));
  const data = { repeats: task.id };
  return {
    task: next,
    activity: { type: 'created', data },
    events: [{ type: 'task.created', data }, ...assignedEvent([], next.assignee_ids)],
    links: null,
    next: null,
    isLastView: false,
  };
}

/** The recurrence of an occurrence of the same series. */
function placed(
  { hour: _hour, ...series }: StoredRecurrence,
  { date, number, nominal }: Occurrence,
): StoredRecurrence {
  const { scheduled = date, hour, isBeyond } = nominal ?? {};
  const rrule = isBeyond ? withoutLastDay(series.rrule) : series.rrule;
  // Programs reject a rule whose last day is before its start.
  if (rrule !== series.rrule) {
    const start = scheduled + (hour ?? series.start.slice(10));
    return { ...series, rrule, start, scheduled };
  }
  return {
    ...series,
    scheduled,
    ...(hour !== undefined && { hour }),
    ...(number !== undefined && { number }),
  };
}

/** The event of a change of the assignees; none when they stay. */
export function assignedEvent(before: readonly string[], after: readonly string[]): TaskEvent[] {
  const added = after.filter((user) => !before.includes(user));
  const removed = before.filter((user) => !after.includes(user));
  return added.length + removed.length === 0 ? [] : [{ type: 'task.assigned', data: { added, removed } }];
}

/** The rules of tasks: functions of the rows that a write reads and a command, which return a change or an error. */

/** What a write of any task reads beside the task. */
export interface WriteFacts {
  /** The time of the database. */
  now: Date;
  /** The role of the caller in the folder of the request; null without access, and without a folder. */
  folderRole: TaskRole | null;
  /** A key behind the tasks that the caller has in the folder. */
  endPosition: string;
  /** The users among the new assignees who are not active members of the workspace. */
  inactive: readonly string[];
}

/** What a creation reads. */
export interface NewTaskFacts extends WriteFacts {
  /** That of the profile of the caller. */
  timeZone: string;
}

/** What a change reads. */
export interface TaskFacts extends WriteFacts {
  task: TaskRow;
  /** Null without access. */
  role: TaskRole | null;
  /** The folder in which the caller sees the task. */
  seenFolder: string | null;
  /** The next occurrence of a done task that the request opens again, if it is as its creation left it; otherwise null. */
  untouchedNext: TaskRow | null;
  /** A new UID, where the folder that the task joins has another task with its UID; otherwise null. */
  ownUid: string | null;
}

/** Who writes, and which request. */
interface Command {
  userId: string;
  /** The error of the request itself; errors that concern the task come first. */
  error?: ApiError;
}

export interface CreateCommand extends Command {
  id: string;
  patch: TaskPatch;
  /** Notes that link to the task; the caller updates their links, also those of the references. */
  linkedNotes?: readonly string[];
}

export interface UpdateCommand extends Command {
  patch: TaskPatch;
  /** The revision that the client read; null: any. */
  base: number | null;
  /** Id of the next occurrence, if the task repeats. */
  nextId: string;
}

/** Who moves a task to the trash. */
export interface TrashedBy {
  userId: string;
  /** Days in the trash; 0 means no limit. */
  keepDays: number;
}

export interface TrashCommand extends Command, TrashedBy {
  /** Takes the task out of the trash. */
  isRestore: boolean;
  base: number | null;
}

/** `unchanged`: there is nothing to write; `conflict`: the client read an earlier revision. */
export type Decision = TaskChange | ApiError | 'unchanged' | 'conflict';

const DAY_MS = 86_400_000;
const PLAIN = { links: null, next: null, isLastView: false } as const;

/** @returns an error with the status 422 for folders, users and times */
export function createTask(facts: NewTaskFacts, command: CreateCommand): TaskChange | ApiError {
  const { now } = facts;
  const { patch } = command;
  if (patch.folder_id && !mayWrite(facts.folderRole)) return unknownFolder();
  const task = mergeTask(emptyTask(command, facts), patch);
  const error = rejectContent(task, facts);
  if (error) return error;
  task.completed_at = task.status === DONE ? completionIn(patch, now) : null;
  Object.assign(task, momentsOf(task, now));
  return {
    ...PLAIN,
    task,
    activity: { type: 'created', data: {} },
    events: [{ type: 'task.created', data: {} }, ...assignedEvent([], task.assignee_ids)],
    links:
      command.linkedNotes === undefined && task.linked_notes.length > 0
        ? { present: task.linked_notes, removed: [] }
        : null,
  };
}

/** @returns an error with the status 403, 404, 409 `deleted` or 422 */
export function updateTask(facts: TaskFacts, command: UpdateCommand): Decision {
  const { task: old, now } = facts;
  const { patch, userId } = command;
  const rejection = rejectWriter(facts, 'editor') ?? rejectTrashed(old) ?? command.error;
  if (rejection) return rejection;
  if (command.base !== null && command.base !== old.revision) return 'conflict';
  const task = mergeTask(old, patch);
  const error = place(task, facts, patch) ?? rejectContent(task, facts);
  if (error) return error;
  const changes = changesOf(old, task);
  if (Object.keys(changes).length === 0) return 'unchanged';
  const isCompleted = task.status === DONE && old.status !== DONE;
  if (isCompleted || patch.completed_at) task.completed_at = completionIn(patch, now);
  if (task.status !== DONE) task.completed_at = null;
  const withdrawn = task.status === DONE ? null : facts.untouchedNext;
  if (withdrawn) task.next_task_id = null;
  // The next occurrence copies what is kept.
  if (patch.icalendar === undefined) task.icalendar = stillKept(task, changes, old);
  const next = isCompleted && old.next_task_id === null ? followUp(task, command, now) : null;
  if (next) task.next_task_id = next.task.id;
  if (['status', 'date', 'due_at', 'time_zone', 'reminders'].some((field) => field in changes))
    Object.assign(task, momentsOf(task, now));
  task.revision = old.revision + 1;
  task.updated_at = now > old.updated_at ? now : old.updated_at;
  task.updated_by = userId;
  return {
    task,
    activity: { type: activityOf(old, task), data: changes },
    events: [
      { type: 'task.updated', data: { changed: Object.keys(changes) } },
      ...(isCompleted ? [{ type: 'task.completed', data: { next_task_id: task.next_task_id } }] : []),
      ...assignedEvent(old.assignee_ids, task.assignee_ids),
    ],
    links: linksOf(old, task, next !== null),
    next,
    ...(withdrawn && { withdrawn }),
    isLastView: facts.role !== 'owner' && ('assignees' in changes || 'folder_id' in changes),
  };
}

/** Moves a task to the trash or takes it out; only its creator may. @returns an error with the status 403, 404 or 409 `deleted` */
export function trashTask(facts: TaskFacts, command: TrashCommand): Decision {
  const { task: old, now } = facts;
  const { isRestore } = command;
  const rejection = rejectWriter(facts, 'owner') ?? (isRestore ? null : rejectTrashed(old)) ?? command.error;
  if (rejection) return rejection;
  if (isRestore && old.deleted_at === null) return 'unchanged';
  if (command.base !== null && command.base !== old.revision) return 'conflict';
  const { columns, activity, events } = isRestore ? RESTORED : intoTrash(command, now);
  const task: TaskRow = { ...old, ...columns };
  // Programs that missed the time in the trash have the text with the old UID.
  if (facts.ownUid !== null) Object.assign(task, { uid: facts.ownUid, revision: old.revision + 1 });
  Object.assign(task, momentsOf(task, now));
  const notes = old.linked_notes;
  return {
    ...PLAIN,
    task,
    activity,
    events,
    links:
      notes.length === 0
        ? null
        : isRestore
          ? { present: notes, removed: [] }
          : { present: [], removed: notes },
  };
}

/** What a way into the trash, or out of it, does to a task. */
interface TrashMove extends Pick<TaskChange, 'activity' | 'events'> {
  columns: Pick<TaskRow, 'deleted_at' | 'deleted_by' | 'purge_at'>;
}

const RESTORED: TrashMove = {
  columns: { deleted_at: null, deleted_by: null, purge_at: null },
  activity: { type: 'restored', data: {} },
  events: [{ type: 'task.restored', data: {} }],
};

/** What the way into the trash does to any task. A task in the trash has no next moments. */
export const intoTrash = (
  { userId, keepDays }: TrashedBy,
  now: Date,
): TrashMove & { columns: Pick<TaskRow, 'next_reminder_at' | 'next_due_at' | 'due_stage'> } => ({
  columns: {
    deleted_at: now,
    deleted_by: userId,
    purge_at: keepDays === 0 ? null : new Date(now.getTime() + keepDays * DAY_MS),
    next_reminder_at: null,
    next_due_at: null,
    due_stage: 0,
  },
  activity: { type: 'deleted', data: {} },
  events: [{ type: 'task.deleted', data: {} }],
});

/**
 * The events of a purge, and the user whom they name. A task that was not in the trash is reported as deleted too.
 * @param userId default: the user who moved the task to the trash, where its time there is over
 */
export function purgeTask(
  { deleted_at, deleted_by }: Pick<TaskRow, 'deleted_at' | 'deleted_by'>,
  userId: string | null = deleted_by,
): { actor: string | null; events: TaskEvent[] } {
  const purged: TaskEvent = { type: 'task.purged', data: {} };
  return {
    actor: userId,
    events: deleted_at === null ? [{ type: 'task.deleted', data: {} }, purged] : [purged],
  };
}

/** The time of a completion, of which a program tells when it was online again. One in the future is that of a wrong clock. */
const completionIn = ({ completed_at: stated }: TaskPatch, now: Date): Date =>
  stated && stated >= MIN_DUE && stated < now ? stated : now;

function rejectWriter({ role }: TaskFacts, needed: 'editor' | 'owner'): ApiError | null {
  if (role === null) return TaskErrors.notFound.with();
  return (needed === 'owner' ? role === 'owner' : mayWrite(role)) ? null : Errors.forbidden.with();
}

function rejectTrashed({ revision, deleted_at }: TaskRow): ApiError | null {
  return deleted_at && TaskErrors.deleted.with({ body: { revision, deleted_at: deleted_at.toISOString() } });
}

function rejectContent({ recurrence, date }: TaskRow, { inactive }: WriteFacts): ApiError | null {
  if (recurrence !== null && date === null) return noDate();
  return inactive.length > 0 ? inactiveUsers('assignees', inactive) : null;
}

/** Sets the folder and the place of a task. */
function place(task: TaskRow, facts: TaskFacts, patch: TaskPatch): ApiError | null {
  const { role, seenFolder, folderRole, endPosition } = facts;
  const { folder_id: folder } = patch;
  if (folder === undefined || folder === seenFolder) {
    if (patch.last) task.position = endPosition;
    return null;
  }
  // An assignee does not take the task out of a folder that the assignee cannot see.
  if (role !== 'owner' && (task.folder_id === null || seenFolder === null)) return Errors.forbidden.with();
  if (folder !== null && !mayWrite(folderRole)) return unknownFolder();
  task.folder_id = folder;
  task.uid = facts.ownUid ?? task.uid;
  if (patch.position === undefined) task.position = endPosition;
  return null;
}

function activityOf(old: TaskRow, task: TaskRow): string {
  if (old.status !== DONE && task.status === DONE) return 'completed';
  return old.status === DONE && task.status !== DONE ? 'reopened' : 'updated';
}

/** The next occurrence of a task that is being completed; null for a task that does not repeat, and at the end of its series. */
function followUp(task: TaskRow, { userId, nextId }: UpdateCommand, now: Date): TaskChange | null {
  const next = followingOccurrence(task, task.completed_at ?? now);
  return next && repeatTask(task, next, { id: nextId, userId, now });
}

/** The links of notes that a change of a task adds, renames or removes. */
function linksOf(old: TaskRow, task: TaskRow, isRepeated: boolean): TaskChange['links'] {
  const [before, present] = [new Set(old.linked_notes), new Set(task.linked_notes)];
  const removed = old.linked_notes.filter((note) => !present.has(note));
  const isChanged =
    isRepeated || old.title !== task.title || task.linked_notes.some((note) => !before.has(note));
  return removed.length > 0 || (present.size > 0 && isChanged)
    ? { present: task.linked_notes, removed }
    : null;
}

function emptyTask(command: CreateCommand, { now, timeZone, endPosition }: NewTaskFacts): TaskRow {
  const { id, userId, patch, linkedNotes = [] } = command;
  return {
    id,
    creator_id: userId,
    folder_id: patch.folder_id ?? null,
    title: '',
    description: null,
    status: 0,
    priority: 2,
    group_name: null,
    labels: [],
    assignee_ids: [],
    date: null,
    due_at: null,
    time_zone: timeZone,
    overdue_at: null,
    recurrence: null,
    next_task_id: null,
    reminders: [],
    next_reminder_at: null,
    next_due_at: null,
    due_stage: 0,
    refs: [],
    linked_notes: [...linkedNotes],
    position: endPosition,
    revision: 1,
    completed_at: null,
    created_at: now,
    updated_at: now,
    updated_by: userId,
    deleted_at: null,
    deleted_by: null,
    purge_at: null,
    uid: null,
    icalendar: null,
    subtasks_count: 0,
    comments_count: 0,
  };
}
