import { generateKeyBetween } from 'fractional-indexing';
import { type ApiError, defineError, fieldError } from '../http/errors.js';
import { isUuid } from '../http/id.pipe.js';
import { QUOTAS, formatLimit } from '../quotas/quotas.js';

/** A row of a table of folders. */
export interface TreeNode {
  id: string;
  parent_id: string | null;
  position: number;
}

/**
 * The folders of one owner, in memory while a change is checked. Read it under the lock of the tree, so that two concurrent moves
 * cannot create a cycle.
 */
export class Tree {
  private readonly nodes: Map<string, TreeNode>;
  private readonly byParent: Map<string | null, TreeNode[]>;

  constructor(nodes: readonly TreeNode[]) {
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.byParent = Map.groupBy(
      nodes.toSorted((a, b) => a.position - b.position),
      (node) => node.parent_id,
    );
  }

  get size(): number {
    return this.nodes.size;
  }

  has(id: string): boolean {
    return this.nodes.has(id);
  }

  /** They have the order of their positions. */
  children(id: string | null): string[] {
    return (this.byParent.get(id) ?? []).map((node) => node.id);
  }

  /** The node and those above it, itself first; empty for an unknown node. */
  path(id: string | null): string[] {
    const path: string[] = [];
    for (let node = this.nodes.get(id ?? ''); node; node = this.nodes.get(node.parent_id ?? ''))
      path.push(node.id);
    return path;
  }

  /** The node and those below it, level by level. */
  listBelow(id: string): string[] {
    return this.levels(id).flat();
  }

  /** Position after the last child of `parent` (null: the top). */
  lastPosition(parent: string | null): number {
    const siblings = this.byParent.get(parent);
    return siblings ? Math.max(...siblings.map((node) => node.position)) + 1 : 1;
  }

  /**
   * Whether `id` (undefined: a new node) may be placed in `parent`.
   * @returns the reason against it, or null
   */
  obstacle(
    id: string | undefined,
    parent: string | null,
    maxDepth: number,
  ): 'unknown_parent' | 'cycle' | 'too_deep' | null {
    if (parent === null) return null;
    if (!this.has(parent)) return 'unknown_parent';
    const path = this.path(parent);
    if (id !== undefined && path.includes(id)) return 'cycle';
    const height = id === undefined ? 1 : this.levels(id).length;
    return path.length + height > maxDepth ? 'too_deep' : null;
  }

  private levels(id: string): string[][] {
    const levels: string[][] = [];
    for (
      let level = this.has(id) ? [id] : [];
      level.length > 0;
      level = level.flatMap((at) => this.children(at))
    )
      levels.push(level);
    return levels;
  }
}

const MAX_DEPTH = 32;

/** Errors of folders in a tree. */
export const FolderErrors = {
  alreadyExists: defineError(409, 'already_exists', 'A folder with this id exists already.'),
  cycle: defineError(422, 'folder_cycle', 'A folder cannot be moved into itself or below itself.'),
  tooDeep: defineError(422, 'folder_too_deep', 'Folders nest at most 32 deep.'),
  tooMany: defineError(
    422,
    'too_many_folders',
    `A user may have at most ${formatLimit(QUOTAS.user.folders)} folders.`,
  ),
} as const;

/**
 * Rejects a place of a folder in the tree of its owner.
 * @param id undefined: a new folder
 * @returns an error with the status 422: `folder_cycle`, `folder_too_deep`, `too_many_folders`, or `validation_failed` for an unknown parent
 */
export function rejectPlace(tree: Tree, id: string | undefined, parentId: string | null): ApiError | null {
  const obstacle = tree.obstacle(id, parentId, MAX_DEPTH);
  if (obstacle === 'cycle') return FolderErrors.cycle.with();
  if (obstacle === 'too_deep') return FolderErrors.tooDeep.with();
  if (obstacle === 'unknown_parent') return unknownParent();
  return id === undefined && tree.size >= QUOTAS.user.folders ? FolderErrors.tooMany.with() : null;
}

/** @throws ApiError as `rejectPlace` returns it */
export function checkPlace(tree: Tree, id: string | undefined, parentId: string | null): void {
  const error = rejectPlace(tree, id, parentId);
  if (error) throw error;
}

function unknownParent(): ApiError {
  const message = 'parent_id is not one of your folders';
  return fieldError('parent_id', 'unknown_folder', message);
}

/** Maximum length of a key, which thousands of moves into one gap reach. PostgreSQL cannot index much longer keys. */
const MAX_KEY = 1_000;

/** A list in manual order, as the caller sees it. */
interface OrderedList {
  /** The first key of the list; null for an empty list. */
  first(): Promise<string | null>;
  /** The keys of an item (`position`) and of its neighbour (`beyond`); null for an unknown item. */
  neighbours(
    id: string,
    side: 'before' | 'after',
  ): Promise<{ position: string; beyond: string | null } | null>;
}

/**
 * Manual order by fractional keys: a key between the keys of two neighbours places an item between them, without a write of other
 * items. Neighbours are read before the write: two concurrent moves into one gap get keys in that gap, in any order.
 * @param position the field of the request
 * @returns a key, or undefined for the end of the list, which the write determines
 * @throws ApiError 422
 */
export async function keyFor(position: unknown, list: OrderedList): Promise<string | undefined> {
  if (position === 'last') return undefined;
  if (position === 'first') return bounded(generateKeyBetween(null, await list.first()));
  if (typeof position === 'string') return givenKey(position);
  const { before, after } = (position ?? {}) as { before?: unknown; after?: unknown };
  if (isUuid(before) && after === undefined) return beside(list, before, 'before');
  if (isUuid(after) && before === undefined) return beside(list, after, 'after');
  throw invalid('must be first, last, { before: id }, { after: id } or the position of an item');
}

async function beside(list: OrderedList, id: string, side: 'before' | 'after'): Promise<string> {
  const found = await list.neighbours(id.toLowerCase(), side);
  if (!found) throw invalid(`${side} is not the id of an item in this list`);
  return bounded(
    side === 'before'
      ? generateKeyBetween(found.beyond, found.position)
      : generateKeyBetween(found.position, found.beyond),
  );
}

function givenKey(key: string): string {
  if (!/^[A-Za-z0-9]+$/.test(key)) throw invalid('is not a key of the manual order');
  try {
    generateKeyBetween(bounded(key), null);
    return key;
  } catch (error) {
    throw error instanceof Error && error.name === 'ApiError'
      ? error
      : invalid('is not a key of the manual order');
  }
}

function bounded(key: string): string {
  if (key.length > MAX_KEY) throw invalid('has no free key between these two items; move one of them first');
  return key;
}

const invalid = (message: string) => fieldError('position', 'invalid_position', `position ${message}`);
