import { Body, Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { ListFolders } from '../../../platform/resources/folder.dto.js';
import { FolderErrors } from '../../../platform/resources/folders.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { ResourceFeed } from '../../../platform/resources/resource-feed.js';
import { TaskErrors } from '../tasks.errors.js';
import { TaskFolderFeedRepository } from './task-folder-feed.repository.js';
import { CreateTaskFolder, DeleteTaskFolder, UpdateTaskFolder } from './task-folders.dto.js';
import { folderTooLarge, TASK_FOLDERS } from './task-folders.resource.js';
import { TaskFoldersService } from './task-folders.service.js';

@Controller(TASK_FOLDERS.options.path)
export class TaskFolderFeedController extends ResourceFeed(TASK_FOLDERS, TaskFolderFeedRepository, {
  changes:
    'As for tasks. A folder that is deleted or no longer shared with you is a removal. The feeds of tasks and folders share one counter: a folder comes before the tasks that are visible because of it.',
}) {}

@Controller(TASK_FOLDERS.options.path)
export class TaskFoldersController {
  constructor(private readonly folders: TaskFoldersService) {}

  @ListOperation(TASK_FOLDERS, {
    description: 'Your own folders and those shared with you, in the order of `position`.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListFolders) {
    return this.folders.list(ctx, query);
  }

  @CreateOperation(TASK_FOLDERS, {
    description:
      'You become its owner. `members` shares it, with the folders and tasks in it, from the start.',
    example: { name: 'Offsite', color: '#2f80ed' },
    errors: [FolderErrors.alreadyExists, FolderErrors.tooDeep, FolderErrors.tooMany, TaskErrors.unknownUser],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateTaskFolder,
  ) {
    return this.folders.create(ctx, key, body);
  }

  @ReadOperation(TASK_FOLDERS, { description: 'With its members and your role, without the tasks in it.' })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.folders.read(ctx, id);
  }

  @UpdateOperation(TASK_FOLDERS, {
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
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateTaskFolder) body: Checked<UpdateTaskFolder>,
  ) {
    return this.folders.update(ctx, id, expected, body);
  }

  @DeleteOperation(TASK_FOLDERS, {
    description: 'Only for the owner. The tasks stay, unless `contents=delete` is given.',
    errors: [Errors.forbidden, Errors.validationFailed],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @Query() query: DeleteTaskFolder,
  ) {
    return this.folders.delete(ctx, id, expected, query);
  }
}
