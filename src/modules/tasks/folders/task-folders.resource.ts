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

export const folderTooLarge = defineError(
  422,
  'folder_too_large',
  'Too many tasks for sharing with so many users at once; add users in smaller groups.',
);
