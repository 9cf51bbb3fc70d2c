import { defineError } from '../../platform/http/api-error.js';
import { resource } from '../../platform/resources/resource.js';
import { NoteFolderResponse } from './note-folder.response.js';

export const NOTE_FOLDERS = resource({
  tag: 'note folders',
  name: 'note folder',
  alias: ['folder', 'folders'],
  path: 'note_folders',
  item: NoteFolderResponse,
  notFound: 'You have no such folder.',
  revision: 'optional',
});

export const FolderErrors = {
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot be moved into itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(422, 'too_many_folders', 'A user may have at most 5,000 folders.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the folder as it is.'),
} as const;
