import { Controller } from '@nestjs/common';
import { ListFolders } from '../../platform/resources/folder.dto.js';
import { FolderErrors } from '../../platform/resources/folders.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
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
export class NoteFoldersController extends ResourceController(NOTE_FOLDERS, NoteFoldersService, {
  list: {
    query: ListFolders,
    summary: 'List your note folders',
    description: 'In the order of `position`. Each user has folders of their own, also for notes of others.',
  },
  create: {
    body: CreateNoteFolder,
    description: 'At the top of your tree, or in the folder `parent_id`.',
    errors: [FolderErrors.alreadyExists, FolderErrors.tooDeep, FolderErrors.tooMany],
  },
  read: {
    description: 'One of your folders, without the notes in it: `GET /notes?folder_id=` lists them.',
  },
  update: {
    body: UpdateNoteFolder,
    summary: 'Rename, move or colour a note folder',
    description: 'Only the given fields change. A folder cannot be moved into itself or below itself.',
    example: { name: 'Projects of 2027' },
    errors: [FolderErrors.cycle, FolderErrors.tooDeep, noChanges],
  },
  delete: {
    query: DeleteNoteFolder,
    description:
      'Notes and subfolders move up to its parent, unless `contents=trash` is given. Notes of other users only leave the folder.',
  },
}) {}
