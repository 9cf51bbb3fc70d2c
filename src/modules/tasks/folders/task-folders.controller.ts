import { Controller } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';
import { ListFolders } from '../../../platform/resources/folder.dto.js';
import { FolderErrors } from '../../../platform/resources/folders.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import { ResourceFeed } from '../../../platform/resources/resource.js';
import { TaskErrors } from '../tasks.dto.js';
import { TaskFolderFeedRepository } from './task-folders.repository.js';
import {
  CreateTaskFolder,
  DeleteTaskFolder,
  folderTooLarge,
  TASK_FOLDERS,
  UpdateTaskFolder,
} from './task-folders.dto.js';
import { TaskFoldersService } from './task-folders.service.js';

@Controller(TASK_FOLDERS.options.path)
export class TaskFolderFeedController extends ResourceFeed(TASK_FOLDERS, TaskFolderFeedRepository, {
  changes:
    'As for tasks. A folder that is deleted or no longer shared with you is a removal. The feeds of tasks and folders share one counter: a folder comes before the tasks that are visible because of it.',
}) {}

@Controller(TASK_FOLDERS.options.path)
export class TaskFoldersController extends ResourceController(TASK_FOLDERS, TaskFoldersService, {
  list: {
    query: ListFolders,
    description: 'Your own folders and those shared with you, in the order of `position`.',
  },
  create: {
    body: CreateTaskFolder,
    description:
      'You become its owner. `members` shares it, with the folders and tasks in it, from the start.',
    example: { name: 'Offsite', color: '#2f80ed' },
    errors: [FolderErrors.alreadyExists, FolderErrors.tooDeep, FolderErrors.tooMany, TaskErrors.unknownUser],
  },
  read: { description: 'With its members and your role, without the tasks in it.' },
  update: {
    body: UpdateTaskFolder,
    summary: 'Update or share a task folder',
    description:
      'Only the given fields change; without a difference the folder is returned as it is. Members see the folder, the folders below it and the tasks in them. Only the owner changes a folder; a member may leave.',
    example: { name: 'Offsite 2027' },
    errors: [
      Errors.forbidden,
      FolderErrors.cycle,
      FolderErrors.tooDeep,
      folderTooLarge,
      TaskErrors.unknownUser,
    ],
  },
  delete: {
    query: DeleteTaskFolder,
    description: 'Only for the owner. The tasks stay, unless `contents=delete` is given.',
    errors: [Errors.forbidden],
  },
}) {}
