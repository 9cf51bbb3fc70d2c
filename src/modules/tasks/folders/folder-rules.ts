import { changedFields } from '../../../platform/database/rows.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { rejectPlace, type Tree } from '../../../platform/resources/folders.js';
import { inactiveUsers } from '../tasks.dto.js';
import type { TaskFolder, TaskRole } from '../tasks.schema.js';
import { type FolderMember, folderTooLarge } from './task-folders.dto.js';

/** The rules of task folders: functions of the rows, the command and the tree, which return changes or an error. */

/** Maximum number of rows of tasks that one change of a folder's members writes, which takes some seconds. */
const MAX_ROWS = 200_000;

/** Columns that a request sets. */
export type FolderValues = Partial<
  Pick<TaskFolder, 'name' | 'parent_id' | 'position' | 'color' | 'member_ids' | 'member_roles'>
>;

/** A folder with the role of the caller. */
export interface FolderWithRole {
  folder: TaskFolder;
  role: TaskRole;
}

/** What the rules of all writes read: the tree of the owner, and the named users who are not active. */
interface TreeFacts {
  tree: Tree;
  inactive: readonly string[];
}

export interface FolderFacts extends FolderWithRole, TreeFacts {
  /** The roles of the members as responses show them: folders above may raise them. */
  shownRoles: ReadonlyMap<string, TaskRole>;
}

interface CreateFolder {
  userId: string;
  values: FolderValues & Pick<TaskFolder, 'name'>;
}

interface ChangeFolder {
  userId: string;
  values: FolderValues;
  /** The entries of the members in the request. */
  entries: readonly FolderMember[];
}

/** Users who become or cease to be members. */
interface Shared {
  added: string[];
  removed: string[];
}

export interface NewFolder {
  columns: Required<FolderValues> & Pick<TaskFolder, 'owner_id'>;
  /** The event; null for none. */
  shared: Shared | null;
}

export interface FolderChange {
  values: FolderValues;
  /** The folders that are delivered by the feeds. */
  folders: string[];
  /** The folder and those above it as they will be, whose members have access; null where the access stays. */
  access: string[] | null;
  /** The event; null for none. */
  shared: Shared | null;
}

/** @returns an error with the status 422 for the place or the members */
export function createFolder(
  { tree, inactive }: TreeFacts,
  { userId, values }: CreateFolder,
): NewFolder | ApiError {
  const {
    parent_id = null,
    color = null,
    member_ids = [],
    member_roles = [],
  } = withoutMember(values, userId);
  const error = rejectPlace(tree, undefined, parent_id) ?? rejectInactive(member_ids, inactive);
  if (error) return error;
  const { name, position = tree.lastPosition(parent_id) } = values;
  return {
    columns: { owner_id: userId, name, color, parent_id, position, member_ids, member_roles },
    shared: sharedWith([], member_ids),
  };
}

/** Rejects a change by a member, who may only leave. @param values of the request; null where it is invalid */
export function rejectFolderWriter(
  { folder, role }: FolderWithRole,
  userId: string,
  values: FolderValues | null,
): ApiError | null {
  const isAllowed = role === 'owner' || (values !== null && isLeave(folder, userId, values));
  return isAllowed ? null : Errors.forbidden.with();
}

/** @returns null without a difference; an error with the status 422 for the place or the members */
export function changeFolder(facts: FolderFacts, command: ChangeFolder): FolderChange | ApiError | null {
  const { folder, role, tree } = facts;
  const { userId } = command;
  const wanted =
    role === 'owner'
      ? withoutMember(withStoredRoles(facts, command), folder.owner_id)
      : withoutMember(folder, userId);
  const values = changedFields<FolderValues>(folder, wanted);
  if (!values) return null;
  const { parent_id = folder.parent_id, member_ids = folder.member_ids } = values;
  const error =
    (values.parent_id ? rejectPlace(tree, folder.id, values.parent_id) : null) ??
    rejectInactive(values.member_ids ?? [], facts.inactive);
  if (error) return error;
  const isShared = ['parent_id', 'member_ids', 'member_roles'].some((field) => field in values);
  return {
    values,
    folders: isShared ? tree.listBelow(folder.id) : [folder.id],
    access: isShared ? [folder.id, ...tree.path(parent_id)] : null,
    shared: sharedWith(folder.member_ids, member_ids),
  };
}

/** Rejects a change of the access to too many tasks. @param users number of those who gain or lose access to the folder */
export const rejectSize = (tasks: number, users: number): ApiError | null =>
  tasks * users > MAX_ROWS ? folderTooLarge.with() : null;

/** The folders that a removal concerns: all from the folder down, those that are removed, and those that move to its parent. */
export function planRemoval(
  tree: Tree,
  { id }: TaskFolder,
  keeps: boolean,
): { below: string[]; removed: string[]; raised: string[] } {
  const below = tree.listBelow(id);
  return keeps ? { below, removed: [id], raised: tree.children(id) } : { below, removed: below, raised: [] };
}

/** @param users the members; one who was a member before may be deactivated, and is not among the inactive ones */
function rejectInactive(users: readonly string[], inactive: readonly string[]): ApiError | null {
  const found = inactive.filter((user) => users.includes(user));
  return found.length > 0 ? inactiveUsers('members', found) : null;
}

/** Null where nobody comes or goes. */
function sharedWith(before: readonly string[], after: readonly string[]): Shared | null {
  const added = after.filter((user) => !before.includes(user));
  const removed = before.filter((user) => !after.includes(user));
  return added.length + removed.length === 0 ? null : { added, removed };
}

/** The values without this user among the members. */
function withoutMember(values: FolderValues, user: string): FolderValues {
  const { member_ids, member_roles = [] } = values;
  const n = member_ids?.indexOf(user) ?? -1;
  if (n < 0) return values;
  return { ...values, member_ids: member_ids?.toSpliced(n, 1), member_roles: member_roles.toSpliced(n, 1) };
}

/**
 * Restores the stored roles of members whose entry is the one of the response: `inherited` is false and the role is the shown one,
 * which a folder above may have raised. An entry without `inherited` states the role of the member in this folder.
 */
function withStoredRoles(
  { folder: { member_ids, member_roles }, shownRoles }: FolderFacts,
  { values, entries }: ChangeFolder,
): FolderValues {
  const read = new Set(
    entries.flatMap(({ id, user_id, inherited }) =>
      inherited === false ? [(id ?? user_id)?.toLowerCase()] : [],
    ),
  );
  const roles = values.member_roles?.map((role, n) => {
    const user = values.member_ids?.[n] ?? '';
    return read.has(user) && shownRoles.get(user) === role
      ? (member_roles[member_ids.indexOf(user)] ?? role)
      : role;
  });
  return { ...values, member_roles: roles };
}

/** Whether the change only removes this user from the list of members. */
function isLeave({ member_ids, owner_id }: TaskFolder, user: string, values: FolderValues): boolean {
  const { member_ids: named, member_roles: _roles, ...others } = withoutMember(values, owner_id);
  return (
    named !== undefined &&
    Object.values(others).every((value) => value === undefined) &&
    member_ids.includes(user) &&
    !named.includes(user) &&
    member_ids.every((id) => id === user || named.includes(id)) &&
    named.every((id) => member_ids.includes(id))
  );
}
