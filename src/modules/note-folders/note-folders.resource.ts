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

export const noChanges = defineError(422, 'no_changes', 'Nothing differs from the folder as it is.');
