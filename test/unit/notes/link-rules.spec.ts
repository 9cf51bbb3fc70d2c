import {
  changeLinks,
  type LinkChange,
  type LockedNote,
  MAX_LINKS,
  rejectTask,
} from '../../../src/modules/notes/model/note-rules.js';
import { Errors } from '../../../src/platform/http/errors.js';
import { earlier, everyone, noteWith, now, outcomeOf, trashed } from './notes.ts';

const error = Errors.validationFailed.with();
const link = (id: string, at = earlier) => ({ type: 'task' as const, id, created_at: at.toISOString() });
const change = (taskId: string, present: boolean, noteId = 'note'): LinkChange => ({
  noteId,
  taskId,
  createdAt: now,
  present,
});

describe('a task made from a note', () => {
  const full = { links: Array.from({ length: MAX_LINKS }, (_, n) => link(`task${n}`)) };

  test.each<[string, LockedNote | null, object]>([
    ['not_found', null, { error }],
    ['not_found', noteWith(), { userId: 'dave', error }],
    ['forbidden', noteWith(trashed), { userId: 'carol', error }],
    ['deleted', noteWith(trashed), { error }],
    ['validation_failed', noteWith(full), { error }],
    ['too_many_links', noteWith(full), {}],
    ['ok', noteWith({ links: full.links.slice(1) }), {}],
  ])('needs an editor, and place for a link: %s', (outcome, note, more) => {
    expect(outcomeOf(rejectTask(note, { userId: 'bob', ...more }) ?? 'ok')).toBe(outcome);
  });
});

describe('the links of a note', () => {
  const note = noteWith({ links: [link('a'), link('b')] });
  const links = (...changes: LinkChange[]) => changeLinks(note, changes).columns.links;

  test('are added at the end, once, and removed', () => {
    expect(changeLinks(note, [change('c', true), change('a', false)])).toEqual({
      columns: { links: [link('b'), link('c', now)] },
      viewers: everyone,
      event: null,
    });
    expect(links(change('d', true), change('c', true))).toEqual([
      link('a'),
      link('b'),
      link('d', now),
      link('c', now),
    ]);
    expect(links(change('b', true))).toEqual(note.links);
    expect(links(change('x', false))).toEqual(note.links);
  });

  test('follow the changes of this note only; others see a new title', () => {
    expect(changeLinks(note, [change('c', true, 'other'), change('a', true)])).toMatchObject({
      columns: { links: note.links },
      viewers: everyone,
    });
  });
});
