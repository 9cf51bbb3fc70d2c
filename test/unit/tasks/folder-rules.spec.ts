import { Tree } from '../../../src/platform/resources/folders.js';
import { ApiError } from '../../../src/platform/http/errors.js';
import {
  changeFolder,
  createFolder,
  type FolderFacts,
  type FolderValues,
  planRemoval,
  rejectFolderWriter,
  rejectSize,
} from '../../../src/modules/tasks/folders/folder-rules.js';
import type { FolderMember } from '../../../src/modules/tasks/folders/task-folders.dto.js';
import type { TaskFolder } from '../../../src/modules/tasks/tasks.schema.js';

const folder = (change: Partial<TaskFolder> = {}): TaskFolder =>
  ({
    id: 'low',
    owner_id: 'alice',
    name: 'Low',
    color: null,
    parent_id: 'top',
    position: 3,
    member_ids: ['bob', 'carol'],
    member_roles: ['viewer', 'editor'],
    ...change,
  }) as TaskFolder;

const node = (id: string, parent_id: string | null, position = 1) => ({ id, parent_id, position });

/** `top` with `low` below, and `leaf` below `low`; `other` beside `top`. */
const tree = () =>
  new Tree([node('top', null), node('other', null, 5), node('low', 'top', 3), node('leaf', 'low')]);

const facts = (change: Partial<FolderFacts> = {}): FolderFacts => ({
  folder: folder(),
  role: 'owner',
  // Above `low`, bob is an editor.
  shownRoles: new Map([
    ['bob', 'editor'],
    ['carol', 'editor'],
  ]),
  tree: tree(),
  inactive: [],
  ...change,
});

const members = (...named: [string, 'viewer' | 'editor'][]): FolderValues => ({
  member_ids: named.map(([id]) => id),
  member_roles: named.map(([, role]) => role),
});
const entry = (id: string, inherited?: boolean) => ({ id, inherited }) as FolderMember;

const change = (
  values: FolderValues,
  more: Partial<FolderFacts> = {},
  entries: FolderMember[] = [],
  user = 'alice',
) => changeFolder(facts(more), { userId: user, values, entries });

/** The code of an error and of its first detail, or the result. */
function outcomeOf<T>(result: T | ApiError): T | string {
  if (!(result instanceof ApiError)) return result;
  const { details } = result.body as { details?: { code: string }[] };
  return details?.[0]?.code ?? result.kind.code;
}

describe('a new task folder', () => {
  const create = (values: FolderValues, inactive: string[] = []) =>
    createFolder({ tree: tree(), inactive }, { userId: 'alice', values: { name: 'New', ...values } });

  test('comes last in its parent, with its members and their roles', () => {
    expect(create({ parent_id: 'top', color: '#fff', ...members(['bob', 'viewer']) })).toEqual({
      columns: {
        owner_id: 'alice',
        name: 'New',
        color: '#fff',
        parent_id: 'top',
        position: 4,
        member_ids: ['bob'],
        member_roles: ['viewer'],
      },
      shared: { added: ['bob'], removed: [] },
    });
  });

  test('of defaults is at the top, for its owner only', () => {
    expect(create({})).toEqual({
      columns: {
        owner_id: 'alice',
        name: 'New',
        color: null,
        parent_id: null,
        position: 6,
        member_ids: [],
        member_roles: [],
      },
      shared: null,
    });
  });

  test('does not have its owner among the members', () => {
    expect(create(members(['alice', 'viewer'], ['bob', 'editor']))).toMatchObject({
      columns: { member_ids: ['bob'], member_roles: ['editor'] },
    });
  });

  test.each([
    ['in an unknown parent', { parent_id: 'none' }, [], 'unknown_folder'],
    ['shared with an inactive user', members(['bob', 'viewer']), ['bob'], 'unknown_user'],
    ['with both faults', { parent_id: 'none', ...members(['bob', 'viewer']) }, ['bob'], 'unknown_folder'],
  ] as const)('%s is rejected', (_, values, inactive, code) => {
    expect(outcomeOf(create(values as FolderValues, [...inactive]))).toBe(code);
  });

  test('whose owner is named and inactive is accepted', () => {
    expect(create(members(['alice', 'viewer']), ['alice'])).toMatchObject({ columns: { member_ids: [] } });
  });
});

describe('a change of a task folder', () => {
  test.each([
    ['the owner', 'owner', 'alice', { name: 'New' }, undefined],
    ['a member', 'editor', 'bob', { name: 'New' }, 'forbidden'],
    ['a member, with an invalid body', 'editor', 'bob', null, 'forbidden'],
    ['a member who leaves', 'viewer', 'bob', members(['carol', 'viewer']), undefined],
    ['a member who leaves and removes another', 'viewer', 'bob', members(), 'forbidden'],
    [
      'a member who leaves and adds another',
      'viewer',
      'bob',
      members(['carol', 'viewer'], ['dora', 'viewer']),
      'forbidden',
    ],
    [
      'a member who leaves and changes the name',
      'viewer',
      'bob',
      { name: 'x', ...members(['carol', 'viewer']) },
      'forbidden',
    ],
    ['a member who stays', 'viewer', 'bob', members(['bob', 'viewer'], ['carol', 'editor']), 'forbidden'],
    [
      'a member of a folder above',
      'viewer',
      'dora',
      members(['bob', 'viewer'], ['carol', 'editor']),
      'forbidden',
    ],
  ] as const)('by %s', (_, role, userId, values, code) => {
    expect(rejectFolderWriter(facts({ role }), userId, values)?.kind.code).toBe(code);
  });

  test('without a difference is none', () => {
    expect(change({ name: 'Low', ...members(['bob', 'viewer'], ['carol', 'editor']) })).toBeNull();
  });

  test('of the name concerns the folder only', () => {
    expect(change({ name: 'New' })).toEqual({
      values: { name: 'New' },
      folders: ['low'],
      access: null,
      shared: null,
    });
  });

  test('of the parent concerns the folders below, and the access by the folders above it', () => {
    expect(change({ parent_id: 'other' })).toEqual({
      values: { parent_id: 'other' },
      folders: ['low', 'leaf'],
      access: ['low', 'other'],
      shared: null,
    });
    expect(change({ parent_id: null })).toMatchObject({ access: ['low'] });
  });

  test('of the members names those who come and go', () => {
    expect(change(members(['carol', 'editor'], ['dora', 'viewer']))).toEqual({
      values: members(['carol', 'editor'], ['dora', 'viewer']),
      folders: ['low', 'leaf'],
      access: ['low', 'top'],
      shared: { added: ['dora'], removed: ['bob'] },
    });
    expect(change(members(['bob', 'editor'], ['carol', 'editor']))).toMatchObject({
      values: { member_roles: ['editor', 'editor'] },
      folders: ['low', 'leaf'],
      access: ['low', 'top'],
      shared: null,
    });
  });

  test('by a member who leaves removes the member, and keeps the roles of the others', () => {
    const left = change(members(['carol', 'viewer']), { role: 'viewer' }, [], 'bob');
    expect(left).toMatchObject({
      values: members(['carol', 'editor']),
      shared: { added: [], removed: ['bob'] },
    });
  });

  test('keeps the stored role of an entry that is sent back as it was shown', () => {
    const sent = members(['bob', 'editor'], ['carol', 'editor']);
    expect(change(sent, {}, [entry('BOB', false), entry('carol', false)])).toBeNull();
    expect(change(sent, {}, [entry('bob'), entry('carol')])).toMatchObject({
      values: { member_roles: ['editor', 'editor'] },
    });
    const lower = members(['bob', 'viewer'], ['carol', 'viewer']);
    expect(change(lower, {}, [entry('bob', false), entry('carol', false)])).toMatchObject({
      values: { member_roles: ['viewer', 'viewer'] },
    });
  });

  test.each([
    ['into itself', { parent_id: 'leaf' }, [], 'folder_cycle'],
    ['into an unknown folder', { parent_id: 'none' }, [], 'unknown_folder'],
    ['with an inactive member', members(['bob', 'viewer'], ['dora', 'viewer']), ['dora'], 'unknown_user'],
  ] as const)('%s is rejected', (_, values, inactive, code) => {
    expect(outcomeOf(change(values as FolderValues, { inactive: [...inactive] }))).toBe(code);
  });

  test.each([
    [10_000, 20, undefined],
    [10_001, 20, 'folder_too_large'],
    [0, 1_000_000, undefined],
  ])('of the access of %i tasks for %i users: %s', (tasks, users, code) => {
    expect(rejectSize(tasks, users)?.kind.code).toBe(code);
  });
});

describe('the removal of a task folder', () => {
  test('keeps the folders below, which move up', () => {
    expect(planRemoval(tree(), folder(), true)).toEqual({
      below: ['low', 'leaf'],
      removed: ['low'],
      raised: ['leaf'],
    });
  });

  test('with its contents removes the folders below', () => {
    expect(planRemoval(tree(), folder(), false)).toEqual({
      below: ['low', 'leaf'],
      removed: ['low', 'leaf'],
      raised: [],
    });
  });
});
