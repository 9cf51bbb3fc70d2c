import { defineError } from '../../platform/http/api-error.js';
import { DeletedErrorResponse } from '../../platform/http/error.response.js';
import { TaskConflictResponse, TASK_EXAMPLE } from './task.response.js';

export const TaskErrors = {
  notFound: defineError(404, 'not_found', 'There is no such task, or it is not yours to see.'),
  partNotFound: defineError(404, 'not_found', 'The task has no such part.'),
  conflict: defineError(
    409,
    'conflict',
    'The task has changed since you read it; merge and retry with the revision given here.',
    { revision: TASK_EXAMPLE.revision, task: TASK_EXAMPLE },
    TaskConflictResponse,
  ),
  deleted: defineError(
    409,
    'deleted',
    'The task is in the trash; restore it first.',
    { revision: 3, deleted_at: '2026-11-21T09:30:00.000Z' },
    DeletedErrorResponse,
  ),
  alreadyExists: defineError(409, 'already_exists', 'A task with this id exists already.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'Somebody named is not a member of this workspace; see details.',
  ),
  tooManySubtasks: defineError(422, 'too_many_subtasks', 'A task has at most 200 subtasks.'),
} as const;
