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

export const TaskFolderErrors = {
  notFound: defineError(404, 'not_found', 'There is no such folder, or it is not shared with you.'),
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot lie in itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(422, 'too_many_folders', 'A person may have at most 5,000 folders.'),
  tooLarge: defineError(
    422,
    'folder_too_large',
    'So many tasks cannot be shared with so many people at once; add people in smaller groups.',
  ),
} as const;
