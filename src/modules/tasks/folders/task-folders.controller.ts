import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import {
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import {
  DeletedTaskFolderEnvelope,
  TaskFolderEnvelope,
  TaskFolderListEnvelope,
} from './task-folder.response.js';
import { CreateTaskFolder, DeleteTaskFolder, ListTaskFolders, UpdateTaskFolder } from './task-folders.dto.js';
import { TaskFoldersService } from './task-folders.service.js';
import { TaskErrors, TaskFolderErrors } from '../tasks.errors.js';

const UPDATE_ERRORS = [
  TaskFolderErrors.notFound,
  Errors.forbidden,
  TaskFolderErrors.cycle,
  TaskFolderErrors.tooDeep,
  TaskFolderErrors.tooLarge,
  TaskErrors.unknownUser,
  Errors.invalidId,
  Errors.validationFailed,
  ...BODY_ERRORS,
];
const CREATE_EXAMPLE = { name: 'Offsite', color: '#2f80ed' };
const UPDATE_EXAMPLE = { name: 'Offsite 2027' };

@Controller('task_folders')
export class TaskFoldersController {
  constructor(private readonly folders: TaskFoldersService) {}

  @Operation({
    tag: 'task folders',
    id: 'listTaskFolders',
    summary: 'List task folders',
    description: 'Your own and those shared with you, in the order of `position`.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: TaskFolderListEnvelope, description: 'A page of folders.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListTaskFolders): Promise<JsonReply> {
    return this.folders.list(ctx, query);
  }

  @Operation({
    tag: 'task folders',
    id: 'createTaskFolder',
    summary: 'Create a task folder',
    errors: [
      TaskFolderErrors.alreadyExists,
      TaskFolderErrors.tooDeep,
      TaskFolderErrors.tooMany,
      TaskErrors.unknownUser,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiBody({ type: CreateTaskFolder, examples: { folder: { value: CREATE_EXAMPLE } } })
  @ApiIdempotency()
  @ApiCreatedResponse({
    type: TaskFolderEnvelope,
    description: 'The new folder.',
    headers: LOCATION_HEADER,
  })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateTaskFolder,
  ): Promise<JsonReply> {
    return this.folders.create(ctx, key, body);
  }

  @Operation({
    tag: 'task folders',
    id: 'readTaskFolder',
    summary: 'Read a task folder',
    errors: [TaskFolderErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: TaskFolderEnvelope, description: 'The folder.' })
  @Get(':id')
  read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.folders.read(ctx, id);
  }

  @Operation({
    tag: 'task folders',
    id: 'updateTaskFolder',
    summary: 'Update or share a task folder',
    description:
      'Only the fields given change; when nothing differs, the folder is answered as it is. Members see the folder, those below it and the tasks in them. Only the owner changes it; a member may leave.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateTaskFolder, examples: { name: { value: UPDATE_EXAMPLE } } })
  @ApiOkResponse({ type: TaskFolderEnvelope, description: 'The folder as it is now.' })
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateTaskFolder) body: Checked<UpdateTaskFolder>,
  ): Promise<JsonReply> {
    return this.folders.update(ctx, id, body);
  }

  @Operation({
    tag: 'task folders',
    id: 'putTaskFolder',
    summary: 'Update or share a task folder (PUT)',
    description: 'The same as PATCH: fields that are left out stay as they are.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateTaskFolder, examples: { name: { value: UPDATE_EXAMPLE } } })
  @ApiOkResponse({ type: TaskFolderEnvelope, description: 'The folder as it is now.' })
  @Put(':id')
  put(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateTaskFolder) body: Checked<UpdateTaskFolder>,
  ): Promise<JsonReply> {
    return this.folders.update(ctx, id, body);
  }

  @Operation({
    tag: 'task folders',
    id: 'deleteTaskFolder',
    summary: 'Delete a task folder',
    description: 'Only its owner may. Its tasks stay, unless `contents=delete`.',
    errors: [TaskFolderErrors.notFound, Errors.forbidden, Errors.invalidId, Errors.validationFailed],
  })
  @ApiOkResponse({ type: DeletedTaskFolderEnvelope, description: 'The folder as it last was.' })
  @Delete(':id')
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: DeleteTaskFolder): Promise<JsonReply> {
    return this.folders.delete(ctx, id, query);
  }
}
