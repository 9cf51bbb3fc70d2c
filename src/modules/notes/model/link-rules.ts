import type { ApiError } from '../../../platform/http/api-error.js';
import type { NoteLink } from '../note.entity.js';
import { NoteErrors } from '../notes.errors.js';
import { type NoteChange, type NoteRow, viewersOf } from './note-row.js';
import { type NoteCommand, rejectTrashed, rejectWriter } from './note-rules.js';

/** Most tasks that a note links to. */
export const MAX_LINKS = 500;

/** A change of the link from a note to a task. */
export interface LinkChange {
  noteId: string;
  taskId: string;
  /** When the task was created. */
  createdAt: Date;
  /** Whether the note links to the task from now on. */
  present: boolean;
}

/** @returns the error if the caller may not make a task from the note */
export function rejectTask(note: NoteRow | null, { userId, error }: NoteCommand): ApiError | null {
  const rejection = rejectWriter(note, userId, 'editor') ?? rejectTrashed(note!) ?? error;
  if (rejection) return rejection;
  return note!.links.length >= MAX_LINKS ? NoteErrors.tooManyLinks.with() : null;
}

/**
 * Changes the links of a note, without a new revision (spec 4.2). The note appears in the feeds also if only the title of a task has
 * changed: titles are read from the tasks, each for its reader.
 * @param changes of any notes
 */
export function changeLinks(note: NoteRow, changes: readonly LinkChange[]): NoteChange {
  const own = changes.filter(({ noteId }) => noteId === note.id);
  const removed = new Set(own.flatMap(({ taskId, present }) => (present ? [] : [taskId])));
  const known = new Set(note.links.map(({ id }) => id));
  const added = own.filter(({ taskId, present }) => present && !known.has(taskId));
  return {
    columns: { links: [...note.links.filter(({ id }) => !removed.has(id)), ...added.map(linkTo)] },
    viewers: viewersOf(note),
    event: null,
  };
}

const linkTo = ({ taskId, createdAt }: LinkChange): NoteLink => ({
  type: 'task',
  id: taskId,
  created_at: createdAt.toISOString(),
});
