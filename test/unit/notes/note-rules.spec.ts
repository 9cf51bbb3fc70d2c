import {
  type LockedNote,
  rejectPurge,
  restoreNote,
  type TrashCommand,
  trashNote,
} from '../../../src/modules/notes/model/note-rules.js';
import { ApiError, Errors } from '../../../src/platform/http/errors.js';
import { earlier, everyone, noteWith, now, outcomeOf, trashed } from './notes.ts';

const error = Errors.invalidRevision.with();

const trash = (change: Partial<LockedNote> = {}, more: Partial<TrashCommand> = {}) =>
  trashNote(noteWith(change), { userId: 'alice', base: 3, keepDays: 30, ...more });

describe('the trash of notes', () => {
  test('takes a note for some days, or for ever; all members are told', () => {
    expect(trash()).toEqual({
      columns: { deleted_at: now, deleted_by: 'alice', purge_at: new Date('2026-07-01T12:00:00.000Z') },
      viewers: everyone,
      event: { type: 'note.trashed' },
    });
    expect(trash({}, { keepDays: 0 })).toMatchObject({ columns: { purge_at: null } });
  });

  test.each<[string, Partial<LockedNote> | null, Partial<TrashCommand>]>([
    ['not_found', null, { error }],
    ['not_found', {}, { userId: 'dave', error }],
    ['forbidden', trashed, { userId: 'bob', error }],
    ['forbidden', {}, { userId: 'carol' }],
    ['deleted', trashed, { error, base: null }],
    ['invalid_revision', { revision: 4 }, { error, base: null }],
    ['conflict', { revision: 4 }, {}],
    ['ok', {}, {}],
  ])('reports the first error: %s', (outcome, change, more) => {
    const command = { userId: 'alice', base: 3, keepDays: 30, ...more };
    expect(outcomeOf(trashNote(change && noteWith(change), command))).toBe(outcome);
  });

  test('an error names the revision and the time of the deletion', () => {
    const rejection = trash(trashed) as ApiError;
    expect(rejection.body).toMatchObject({ revision: 3, deleted_at: earlier.toISOString() });
  });

  test('gives a note back; a note outside of it stays', () => {
    expect(restoreNote(noteWith(trashed), { userId: 'alice' })).toEqual({
      columns: { deleted_at: null, deleted_by: null, purge_at: null },
      viewers: everyone,
      event: { type: 'note.restored' },
    });
    expect(restoreNote(noteWith(), { userId: 'alice' })).toBe('unchanged');
    expect(outcomeOf(restoreNote(noteWith(trashed), { userId: 'bob' }))).toBe('forbidden');
    expect(outcomeOf(restoreNote(null, { userId: 'alice' }))).toBe('not_found');
  });

  test('only the owner purges a note, and only in the trash', () => {
    const outcome = (note: LockedNote | null, userId: string) =>
      outcomeOf(rejectPurge(note, { userId }) ?? 'ok');
    expect(outcome(noteWith(trashed), 'alice')).toBe('ok');
    expect(outcome(noteWith(), 'alice')).toBe('not_in_trash');
    expect(outcome(noteWith(), 'bob')).toBe('forbidden');
    expect(outcome(noteWith(trashed), 'dave')).toBe('not_found');
    expect(outcome(null, 'alice')).toBe('not_found');
  });
});
