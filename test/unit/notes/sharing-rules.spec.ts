import type { LockedNote, NoteChange } from '../../../src/modules/notes/model/note-rules.js';
import {
  type InviteCommand,
  inviteToNote,
  type ShareAction,
  type SharedRole,
  shareNote,
  transferNote,
} from '../../../src/modules/notes/model/sharing-rules.js';
import { ApiError, Errors } from '../../../src/platform/http/errors.js';
import { earlier, everyone, noteWith, now, outcomeOf, trashed } from './notes.ts';

const error = Errors.validationFailed.with();
const link = {
  share_token: 'old',
  share_role: 'viewer',
  share_expires_at: null,
  share_created_at: earlier,
} as const;
const noLink = { share_token: null, share_role: null, share_expires_at: null, share_created_at: null };

describe('the share link of a note', () => {
  const expiresAt = new Date('2027-01-01T00:00:00.000Z');
  const set: ShareAction = { kind: 'set', token: 'new', role: 'editor', expiresAt };
  const share = (action: ShareAction | null, note: LockedNote | null, more: object = {}) =>
    shareNote(note, { userId: 'alice', action, ...more });

  test('is made; later terms keep its token', () => {
    const terms = { share_role: 'editor', share_expires_at: expiresAt };
    expect(share(set, noteWith())).toEqual({
      columns: { ...terms, share_token: 'new', share_created_at: now },
      viewers: everyone,
      event: { type: 'note.shared' },
    });
    expect(share(set, noteWith(link))).toMatchObject({
      columns: { ...terms, share_token: 'old', share_created_at: earlier },
    });
  });

  test('gets another token, and ends', () => {
    const regenerate: ShareAction = { kind: 'regenerate', token: 'new' };
    expect((share(regenerate, noteWith(link)) as NoteChange).columns).toEqual({
      share_token: 'new',
      share_created_at: now,
    });
    expect((share({ kind: 'revoke' }, noteWith(link)) as NoteChange).columns).toEqual(noLink);
    expect(outcomeOf(share(regenerate, noteWith()))).toBe('not_shared');
    expect(share({ kind: 'revoke' }, noteWith())).toBe('unchanged');
  });

  test.each<[string, LockedNote | null, object]>([
    ['not_found', null, { error }],
    ['not_found', noteWith(), { userId: 'dave' }],
    ['forbidden', noteWith(trashed), { userId: 'bob', error }],
    ['deleted', noteWith(trashed), { error }],
    ['validation_failed', noteWith(), { error }],
  ])('reports the first error: %s', (outcome, note, more) => {
    expect(outcomeOf(share(null, note, more))).toBe(outcome);
  });
});

describe('the invited members of a note', () => {
  const list = (...members: [string, SharedRole][]) => new Map(members);
  const invite = (
    invited: InviteCommand['invited'],
    note: LockedNote | null = noteWith(),
    more: Partial<InviteCommand> = {},
    inactive: string[] = [],
  ) => inviteToNote(note, { userId: 'alice', invited, ...more }, inactive);

  test('are replaced in the order of the list, without the owner in it', () => {
    expect(invite(list(['dave', 'viewer'], ['alice', 'viewer'], ['bob', 'viewer']))).toEqual({
      columns: { member_ids: ['alice', 'dave', 'bob'], member_roles: ['owner', 'viewer', 'viewer'] },
      viewers: [
        { user_id: 'alice', role: 'owner' },
        { user_id: 'dave', role: 'viewer' },
        { user_id: 'bob', role: 'viewer' },
        { user_id: 'carol', role: null, gone: 'unshared' },
      ],
      event: { type: 'note.shared', data: { added: ['dave'], removed: ['carol'] } },
    });
  });

  test('an equal list changes nothing; another order does', () => {
    expect(invite(list(['bob', 'editor'], ['carol', 'viewer']))).toBe('unchanged');
    expect(invite(list(['carol', 'viewer'], ['bob', 'editor']))).toMatchObject({
      columns: { member_ids: ['alice', 'carol', 'bob'] },
      event: { data: { added: [], removed: [] } },
    });
  });

  test('may leave, and nothing else', () => {
    const as = (userId: string, invited: InviteCommand['invited'], more: object = {}) =>
      invite(invited, noteWith(), { userId, ...more });
    const left = as('carol', list(['bob', 'viewer']));
    // Roles in the request of an invited member have no effect.
    expect((left as NoteChange).columns).toEqual({
      member_ids: ['alice', 'bob'],
      member_roles: ['owner', 'editor'],
    });
    expect(outcomeOf(as('carol', list(['alice', 'viewer'], ['bob', 'viewer'])))).toBe('ok');
    for (const invited of [
      null,
      list(),
      list(['bob', 'editor'], ['carol', 'viewer']),
      list(['bob', 'editor'], ['dave', 'viewer']),
    ])
      expect(outcomeOf(as('carol', invited, { error }))).toBe('forbidden');
  });

  test('who are deactivated are not added', () => {
    const rejection = invite(list(['bob', 'editor'], ['dave', 'viewer']), noteWith(), {}, [
      'dave',
    ]) as ApiError;
    expect(rejection.body).toMatchObject({
      error: 'unknown_user',
      details: [{ field: 'invited.1', code: 'unknown_user' }],
    });
  });

  test.each<[string, LockedNote | null, Partial<InviteCommand>]>([
    ['not_found', null, { error }],
    ['not_found', noteWith(), { userId: 'dave', error }],
    ['forbidden', noteWith(trashed), { userId: 'bob', error }],
    ['deleted', noteWith(trashed), { error }],
    ['validation_failed', noteWith(), { error }],
  ])('the first error is reported: %s', (outcome, note, more) => {
    expect(outcomeOf(invite(null, note, more, ['dave']))).toBe(outcome);
  });
});

describe('a transfer of a note', () => {
  test('ends the link and the access of the former owner; invited members stay', () => {
    expect(transferNote(noteWith(link), 'dave')).toEqual({
      columns: {
        ...noLink,
        owner_id: 'dave',
        member_ids: ['dave', 'bob', 'carol'],
        member_roles: ['owner', 'editor', 'viewer'],
      },
      viewers: [
        { user_id: 'dave', role: 'owner' },
        { user_id: 'bob', role: 'editor' },
        { user_id: 'carol', role: 'viewer' },
        { user_id: 'alice', role: null, gone: 'unshared' },
      ],
      event: { type: 'note.shared', data: { added: [], removed: ['alice'] } },
    });
  });

  test('to an invited member makes this member the owner', () => {
    const { columns } = transferNote(noteWith(), 'carol');
    expect(columns).toMatchObject({ member_ids: ['carol', 'bob'], member_roles: ['owner', 'editor'] });
  });
});
