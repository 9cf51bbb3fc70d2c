import {
  type EditCommand,
  editNote,
  EDITORS,
  newNote,
  type NoteFacts,
  type NotePatch,
} from '../../../src/modules/notes/model/edit-rules.js';
import type { LockedNote } from '../../../src/modules/notes/model/note-rules.js';
import { ApiError, Errors } from '../../../src/platform/http/errors.js';
import { earlier, noteWith, now, outcomeOf as codeOf, trashed } from './notes.ts';

const error = Errors.invalidRevision.with();
const CONTENT = '<p>text</p>';

const edit = (patch: NotePatch, facts: Partial<NoteFacts> = {}, more: Partial<EditCommand> = {}) =>
  editNote(
    { note: noteWith(), hasLink: false, folder: null, isOwnFolder: true, content: CONTENT, ...facts },
    { userId: 'bob', base: 3, patch, ...more },
  );

/** As `outcomeOf`, with the code of the first detail of an error. */
function outcomeOf(decision: unknown): string {
  const { details } = decision instanceof ApiError ? (decision.body as { details?: { code: string }[] }) : {};
  return details?.[0]?.code ?? codeOf(decision);
}

test('a new note belongs to its creator', () => {
  expect(newNote('alice', { title: 'Note', content: CONTENT })).toEqual({
    owner_id: 'alice',
    title: 'Note',
    labels: [],
    links: [],
    revision: 1,
    body_rev: 1,
    member_ids: ['alice'],
    member_roles: ['owner'],
    updated_by: 'alice',
  });
  expect(newNote('alice', {})).toMatchObject({ title: '' });
});

describe('an edit of a note', () => {
  test('has the fields that differ', () => {
    expect(EDITORS).toEqual(['editor', 'owner']);
    expect(edit({ title: 'New', labels: ['a'], content: CONTENT })).toEqual({ columns: { title: 'New' } });
    expect(edit({ labels: ['b', 'a'], content: '' })).toEqual({
      columns: { labels: ['b', 'a'] },
      content: '',
    });
    expect(outcomeOf(edit({ title: 'Note', labels: ['a'], content: CONTENT }))).toBe('no_changes');
    expect(outcomeOf(edit({}))).toBe('no_changes');
  });

  test.each<[string, LockedNote | null, NotePatch, Partial<EditCommand>]>([
    ['not_found', null, {}, { error }],
    ['not_found', noteWith(), {}, { userId: 'dave', error }],
    ['forbidden', noteWith(trashed), {}, { userId: 'carol', error, base: null }],
    ['forbidden', noteWith(), { title: 'New', folder_id: 'f' }, { userId: 'carol' }],
    ['forbidden', noteWith(), { content: CONTENT }, { userId: 'carol' }],
    ['deleted', noteWith(trashed), {}, { error, base: null }],
    ['invalid_revision', noteWith({ revision: 4 }), {}, { error, base: null }],
    ['unknown_folder', noteWith({ revision: 4 }), { folder_id: 'f' }, {}],
    ['conflict', noteWith({ revision: 4 }), { title: 'Note' }, {}],
    ['no_changes', noteWith(), { title: 'Note' }, {}],
  ])('reports the first error: %s', (outcome, note, patch, more) => {
    expect(outcomeOf(edit(patch, { note, isOwnFolder: false }, more))).toBe(outcome);
  });
});

describe('the folder of a note', () => {
  const place = (userId: string, patch: NotePatch, folder: string | null = 'old') =>
    edit(patch, { folder }, { userId });

  test('is that of one member; the owner makes a revision', () => {
    expect(place('carol', { folder_id: 'f' })).toEqual({ place: 'f' });
    expect(place('bob', { folder_id: null, title: 'Note' })).toEqual({ place: null });
    expect(place('bob', { folder_id: 'f', title: 'New' })).toEqual({
      columns: { title: 'New' },
      folder: 'f',
    });
    expect(place('alice', { folder_id: 'f' })).toEqual({ columns: {}, folder: 'f' });
  });

  test('stays if it is the same', () => {
    expect(outcomeOf(place('carol', { folder_id: 'old' }))).toBe('no_changes');
    expect(place('bob', { folder_id: 'old', title: 'New' })).toEqual({ columns: { title: 'New' } });
  });
});

describe('a share link', () => {
  const shared = (change: Partial<LockedNote> = {}): Partial<NoteFacts> => ({
    hasLink: true,
    note: noteWith({ share_token: 'token', share_role: 'editor', share_created_at: earlier, ...change }),
  });
  const visit = (patch: NotePatch, userId: string, change: Partial<LockedNote> = {}) =>
    edit(patch, shared(change), { userId });

  test('lets visitors and viewers edit, but not file the note', () => {
    expect(visit({ title: 'New' }, 'dave')).toEqual({ columns: { title: 'New' } });
    expect(visit({ title: 'New', folder_id: null }, 'dave')).toEqual({ columns: { title: 'New' } });
    expect(outcomeOf(visit({ title: 'New', folder_id: 'f' }, 'dave'))).toBe('forbidden');
    // A viewer who reads with the link reads null as the folder.
    expect(
      edit({ title: 'New', folder_id: null }, { ...shared(), folder: 'old' }, { userId: 'carol' }),
    ).toEqual({
      columns: { title: 'New' },
    });
    expect(edit({ folder_id: null }, { ...shared(), folder: 'old' }, { userId: 'alice' })).toEqual({
      columns: {},
      folder: null,
    });
  });

  test('gives its role until it ends, and none in the trash', () => {
    expect(outcomeOf(visit({ title: 'New' }, 'dave', { share_role: 'viewer' }))).toBe('forbidden');
    expect(outcomeOf(visit({ title: 'New' }, 'dave', { share_expires_at: now }))).toBe('not_found');
    expect(
      outcomeOf(visit({ title: 'New' }, 'dave', { share_expires_at: new Date(now.getTime() + 1) })),
    ).toBe('ok');
    expect(outcomeOf(visit({ title: 'New' }, 'dave', trashed))).toBe('not_found');
    expect(outcomeOf(visit({ title: 'New' }, 'bob', { share_role: 'viewer' }))).toBe('ok');
  });
});
