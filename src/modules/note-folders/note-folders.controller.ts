import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import {
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import {
  DeletedNoteFolderEnvelope,
  NoteFolderEnvelope,
  NoteFolderListEnvelope,
} from './note-folder.response.js';
import { CreateNoteFolder, DeleteNoteFolder, ListNoteFolders, UpdateNoteFolder } from './note-folders.dto.js';
import { FolderErrors } from './note-folders.errors.js';
import { NoteFoldersService } from './note-folders.service.js';

const UPDATE_ERRORS = [
  FolderErrors.notFound,
  FolderErrors.cycle,
  FolderErrors.tooDeep,
  FolderErrors.noChanges,
  Errors.invalidId,
  Errors.validationFailed,
  ...BODY_ERRORS,
];
// Differs from what creating one is shown with: a change of nothing is refused.
const UPDATE_EXAMPLE = { name: 'Projects of 2027' };

@Controller('note_folders')
export class NoteFoldersController {
  constructor(private readonly folders: NoteFoldersService) {}

  @Operation({
    tag: 'note folders',
    id: 'listNoteFolders',
    summary: 'List your note folders',
    description:
      'In the order of `position`. Folders are your own: somebody you share a note with files it in theirs.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: NoteFolderListEnvelope, description: 'A page of folders.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListNoteFolders): Promise<JsonReply> {
    return this.folders.list(ctx, query);
  }

  @Operation({
    tag: 'note folders',
    id: 'createNoteFolder',
    summary: 'Create a note folder',
    errors: [
      FolderErrors.alreadyExists,
      FolderErrors.tooDeep,
      FolderErrors.tooMany,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiIdempotency()
  @ApiCreatedResponse({
    type: NoteFolderEnvelope,
    description: 'The new folder.',
    headers: LOCATION_HEADER,
  })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateNoteFolder,
  ): Promise<JsonReply> {
    return this.folders.create(ctx, key, body);
  }

  @Operation({
    tag: 'note folders',
    id: 'readNoteFolder',
    summary: 'Read a note folder',
    errors: [FolderErrors.notFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: NoteFolderEnvelope, description: 'The folder.' })
  @Get(':id')
  read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.folders.read(ctx, id);
  }

  @Operation({
    tag: 'note folders',
    id: 'updateNoteFolder',
    summary: 'Rename, move or colour a note folder',
    description: 'Only the fields given change. Moving a folder into itself or below itself is refused.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateNoteFolder, examples: { name: { value: UPDATE_EXAMPLE } } })
  @ApiOkResponse({ type: NoteFolderEnvelope, description: 'The folder as it is now.' })
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateNoteFolder) body: Checked<UpdateNoteFolder>,
  ): Promise<JsonReply> {
    return this.folders.update(ctx, id, body);
  }

  @Operation({
    tag: 'note folders',
    id: 'putNoteFolder',
    summary: 'Update a note folder (PUT)',
    description: 'The same as PATCH: fields that are left out stay as they are.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateNoteFolder, examples: { name: { value: UPDATE_EXAMPLE } } })
  @ApiOkResponse({ type: NoteFolderEnvelope, description: 'The folder as it is now.' })
  @Put(':id')
  put(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateNoteFolder) body: Checked<UpdateNoteFolder>,
  ): Promise<JsonReply> {
    return this.folders.update(ctx, id, body);
  }

  @Operation({
    tag: 'note folders',
    id: 'deleteNoteFolder',
    summary: 'Delete a note folder',
    description:
      'Notes and subfolders move up to its parent, unless `contents=trash` is given. Notes of others are only taken out of the folder.',
    errors: [FolderErrors.notFound, Errors.invalidId, Errors.validationFailed],
  })
  @ApiOkResponse({ type: DeletedNoteFolderEnvelope, description: 'The folder as it last was.' })
  @Delete(':id')
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: DeleteNoteFolder): Promise<JsonReply> {
    return this.folders.delete(ctx, id, query);
  }
}
