import { defineError } from '../../platform/http/api-error.js';

export const FolderErrors = {
  notFound: defineError(404, 'not_found', 'There is no such folder of yours.'),
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot lie in itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(422, 'too_many_folders', 'A person may have at most 5,000 folders.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the folder as it is.'),
} as const;
