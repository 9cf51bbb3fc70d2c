import { type ApiError, defineError } from '../http/api-error.js';
import { fieldError } from '../http/errors.js';
import type { Tree } from './tree.js';
import { QUOTAS, shown } from '../quotas/quotas.js';

const MAX_DEPTH = 32;

/** Errors of folders in a tree. */
export const FolderErrors = {
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot be moved into itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(
    422,
    'too_many_folders',
    `A user may have at most ${shown(QUOTAS.user.folders)} folders.`,
  ),
} as const;

/**
 * Checks the place of a folder in the tree of its owner.
 * @param id undefined: a new folder
 * @throws ApiError 422 `folder_cycle`, `folder_too_deep`, `too_many_folders`, or `validation_failed` for an unknown parent
 */
export function checkPlace(tree: Tree, id: string | undefined, parentId: string | null): void {
  const obstacle = tree.obstacle(id, parentId, MAX_DEPTH);
  if (obstacle === 'cycle') throw FolderErrors.cycle.with();
  if (obstacle === 'too_deep') throw FolderErrors.tooDeep.with();
  if (obstacle === 'unknown_parent') throw unknownParent();
  if (id === undefined && tree.size >= QUOTAS.user.folders) throw FolderErrors.tooMany.with();
}

function unknownParent(): ApiError {
  const message = 'parent_id is not one of your folders';
  return fieldError('parent_id', 'unknown_folder', message);
}
