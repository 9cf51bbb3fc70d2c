import { defineError } from '../../../platform/http/api-error.js';
import { resource } from '../../../platform/resources/resource.js';
import { TaskFolderResponse } from './task-folder.response.js';

export const TASK_FOLDERS = resource({
  tag: 'task folders',
  name: 'task folder',
  alias: ['folder', 'folders'],
  path: 'task_folders',
  item: TaskFolderResponse,
  notFound: 'The folder does not exist or is not shared with you.',
  revision: 'optional',
});

export const TaskFolderErrors = {
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot be moved into itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(422, 'too_many_folders', 'A user may have at most 5,000 folders.'),
  tooLarge: defineError(
    422,
    'folder_too_large',
    'Too many tasks for sharing with so many users at once; add users in smaller groups.',
  ),
} as const;
