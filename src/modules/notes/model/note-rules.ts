import type { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import type { NoteRole } from '../note.entity.js';
import { NoteErrors } from '../notes.errors.js';
import { includes, type LockedNote, type NoteChange, type NoteRow, roleIn, viewersOf } from './note-row.js';

// The rules of the trash, and what all writes check: functions of a locked note and a command. They return a change or an error.

/** Who writes, and which request. */
export interface NoteCommand {
  userId: string;
  /** The error of the request itself; errors that concern the note come first. */
  error?: ApiError | undefined;
}

/** `unchanged`: there is nothing to write. */
export type NoteDecision = NoteChange | ApiError | 'unchanged';

export interface TrashCommand extends NoteCommand {
  /** The revision that the client read; null only with an error of the request. */
  base: number | null;
  /** Days until the note is purged; 0: never. */
  keepDays: number;
}

const DAY_MS = 86_400_000;

/** @returns 404 without access, 403 with a role below `least`; null if the caller may write the note */
export function rejectWriter(note: NoteRow | null, userId: string, least: NoteRole): ApiError | null {
  const role = note && roleIn(note, userId);
  if (role === null) return NoteErrors.notFound.with();
  return includes(role, least) ? null : Errors.forbidden.with();
}

/** @returns 409 `deleted` for a note in the trash */
export function rejectTrashed({ revision, deleted_at }: NoteRow): ApiError | null {
  if (deleted_at === null) return null;
  return NoteErrors.deleted.with({ body: { revision, deleted_at: deleted_at.toISOString() } });
}

/** Moves a note to the trash. @returns `conflict`: the client read an earlier revision */
export function trashNote(
  note: LockedNote | null,
  { userId, error, base, keepDays }: TrashCommand,
): NoteDecision | 'conflict' {
  const rejection = rejectWriter(note, userId, 'owner') ?? rejectTrashed(note!) ?? error;
  if (rejection) return rejection;
  if (note!.revision !== base) return 'conflict';
  return intoTrash(note!, userId, keepDays);
}

/** The change of a note that moves to the trash. @param keepDays days until it is purged; 0: never */
export function intoTrash(note: LockedNote, userId: string, keepDays: number): NoteChange {
  const { now } = note;
  const purgeAt = keepDays > 0 ? new Date(now.getTime() + keepDays * DAY_MS) : null;
  return {
    columns: { deleted_at: now, deleted_by: userId, purge_at: purgeAt },
    viewers: viewersOf(note),
    event: { type: 'note.trashed' },
  };
}

/** Takes a note out of the trash. A note outside the trash stays as it is. */
export function restoreNote(note: NoteRow | null, { userId }: NoteCommand): NoteDecision {
  const rejection = rejectWriter(note, userId, 'owner');
  if (rejection) return rejection;
  if (note!.deleted_at === null) return 'unchanged';
  return {
    columns: { deleted_at: null, deleted_by: null, purge_at: null },
    viewers: viewersOf(note!),
    event: { type: 'note.restored' },
  };
}

/** @returns the error if the caller may not purge the note: only its owner may, and only in the trash */
export function rejectPurge(note: NoteRow | null, { userId }: NoteCommand): ApiError | null {
  const rejection = rejectWriter(note, userId, 'owner');
  if (rejection) return rejection;
  return note!.deleted_at === null ? NoteErrors.notInTrash.with() : null;
}
