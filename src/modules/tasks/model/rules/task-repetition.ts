import { nextTodo } from '../next-todo.js';
import type { Occurrence } from '../task-recurrence.js';
import type { TaskChange, TaskEvent } from './task-change.js';
import type { TaskRow } from './task-row.js';
import { momentsOf } from './task-times.js';

/** The next occurrence of a completed task: an open copy at its time. @param task as it is after the completion */
export function repeatTask(
  task: TaskRow,
  occurrence: Occurrence,
  { id, userId, now }: { id: string; userId: string; now: Date },
): TaskChange {
  const { date, dueAt, number } = occurrence;
  const next: TaskRow = {
    ...task,
    ...nextTodo(task, occurrence),
    id,
    date,
    due_at: dueAt,
    recurrence: task.recurrence && {
      ...task.recurrence,
      scheduled: date,
      ...(number !== undefined && { number }),
    },
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

/** The event of a change of the assignees; none when they stay. */
export function assignedEvent(before: readonly string[], after: readonly string[]): TaskEvent[] {
  const added = after.filter((user) => !before.includes(user));
  const removed = before.filter((user) => !after.includes(user));
  return added.length + removed.length === 0 ? [] : [{ type: 'task.assigned', data: { added, removed } }];
}
