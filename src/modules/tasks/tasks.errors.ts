import { type ApiError, defineError } from '../../platform/http/api-error.js';
import { DeletedErrorResponse } from '../../platform/http/error.response.js';
import { fieldError } from '../../platform/http/errors.js';
import { resource } from '../../platform/resources/resource.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { TaskResponse } from './task.response.js';

export const TASKS = resource({
  tag: 'tasks',
  name: 'task',
  path: 'tasks',
  item: TaskResponse,
  notFound: 'The task does not exist, or you cannot see it.',
  revision: 'optional',
});

export const TaskErrors = {
  notFound: TASKS.notFound,
  partNotFound: defineError(404, 'not_found', 'The task has no such subtask, comment or attachment.'),
  deleted: defineError(409, 'deleted', 'The task is in the trash; restore it first.', {
    example: { revision: 3, deleted_at: '2026-11-21T09:30:00.000Z' },
    type: DeletedErrorResponse,
  }),
  alreadyExists: defineError(409, 'already_exists', 'A task with this id exists, or existed, already.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'At least one user is not an active member of this workspace; see details.',
  ),
  tooManyAttachments: defineError(
    422,
    'too_many_attachments',
    `A task has at most ${QUOTAS.item.attachments_of_task} attachments.`,
  ),
  tooManySubtasks: defineError(
    422,
    'too_many_subtasks',
    `A task has at most ${QUOTAS.item.subtasks_of_task} subtasks.`,
  ),
} as const;

/** 422 `unknown_user` for members who are not active. @param field that names them */
export function inactiveUsers(field: string, ids: readonly string[]): ApiError {
  const detail = (id: string) => ({
    field,
    code: 'unknown_user',
    message: `${id} is not an active member of this workspace`,
  });
  return TaskErrors.unknownUser.with({ details: ids.map(detail) });
}

export const unknownFolder = (): ApiError =>
  fieldError('folder_id', 'unknown_folder', 'folder_id is not a task folder you may write to');

export const noDate = (): ApiError => fieldError('recurrence', 'no_date', 'a task that repeats needs a date');
