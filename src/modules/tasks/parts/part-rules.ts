import type { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { TaskRole } from '../task.entity.js';
import { TaskErrors } from '../tasks.errors.js';

/** The rules of the parts of tasks: functions of the task and the role of the caller, which return an error or null. */

/** A task that a user sees. */
export interface OpenTask {
  role: TaskRole;
  revision: number;
  deleted_at: string | null;
  /** Their number. */
  subtasks: number;
  /** Their number. */
  comments: number;
  /** Their number. */
  attachments: number;
}

/** The lowest role that may write a part. */
export type WritingRole = 'viewer' | 'editor';

/** The rejection of a write of a part. */
export function rejectWrite({ role, revision, deleted_at }: OpenTask, needed: WritingRole): ApiError | null {
  if (needed === 'editor' && role === 'viewer') return Errors.forbidden.with();
  return deleted_at === null ? null : TaskErrors.deleted.with({ body: { revision, deleted_at } });
}

/** The rejection of a further attachment. */
export function rejectAttachment(task: OpenTask): ApiError | null {
  const rejection = rejectWrite(task, 'editor');
  if (rejection) return rejection;
  const isFull = task.attachments >= QUOTAS.item.attachments_of_task;
  return isFull ? TaskErrors.tooManyAttachments.with() : null;
}
