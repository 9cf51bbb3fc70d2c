import { Body, Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { ListFolders } from '../../platform/resources/folder.dto.js';
import { FolderErrors } from '../../platform/resources/folders.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../platform/resources/operations.js';
import { ResourceFeed } from '../../platform/resources/resource-feed.js';
import { CreateNoteFolder, DeleteNoteFolder, UpdateNoteFolder } from './note-folders.dto.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import { noChanges, NOTE_FOLDERS } from './note-folders.resource.js';
import { NoteFoldersService } from './note-folders.service.js';

@Controller(NOTE_FOLDERS.options.path)
export class NoteFolderFeedController extends ResourceFeed(NOTE_FOLDERS, NoteFoldersRepository, {
  changes:
    'As for notes. The feeds of notes and folders share one counter: the order of related changes is kept across both.',
}) {}

@Controller(NOTE_FOLDERS.options.path)
export class NoteFoldersController {
  constructor(private readonly folders: NoteFoldersService) {}

  @ListOperation(NOTE_FOLDERS, {
    summary: 'List your note folders',
    description: 'In the order of `position`. Each user has folders of their own, also for notes of others.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListFolders) {
    return this.folders.list(ctx, query);
  }

  @CreateOperation(NOTE_FOLDERS, {
    description: 'At the top of your tree, or in the folder `parent_id`.',
    errors: [FolderErrors.alreadyExists, FolderErrors.tooDeep, FolderErrors.tooMany],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateNoteFolder,
  ) {
    return this.folders.create(ctx, key, body);
  }

  @ReadOperation(NOTE_FOLDERS, {
    description: 'One of your folders, without the notes in it: `GET /notes?folder_id=` lists them.',
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.folders.read(ctx, id);
  }

  @UpdateOperation(NOTE_FOLDERS, {
    summary: 'Rename, move or colour a note folder',
    description: 'Only the given fields change. A folder cannot be moved into itself or below itself.',
    example: { name: 'Projects of 2027' },
    errors: [FolderErrors.cycle, FolderErrors.tooDeep, noChanges],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateNoteFolder) body: Checked<UpdateNoteFolder>,
  ) {
    return this.folders.update(ctx, id, expected, body);
  }

  @DeleteOperation(NOTE_FOLDERS, {
    description:
      'Notes and subfolders move up to its parent, unless `contents=trash` is given. Notes of other users only leave the folder.',
    errors: [Errors.validationFailed],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @Query() query: DeleteNoteFolder,
  ) {
    return this.folders.delete(ctx, id, expected, query);
  }
}
