import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { NoteErrors } from '../notes.dto.js';
import { type Note, NOTE_ROLES, type NoteLink, type NoteRole } from '../notes.schema.js';

/** The columns of a note that its rules read and write. */
export type NoteRow = Omit<Note, 'content_bytes' | 'created_at' | 'tenant_id'>;

/** A note whose row is locked, and the time of the database. */
export type LockedNote = NoteRow & { now: Date };

/** The place of a user in the feed of a note after a write. Role null: the user no longer sees the note, for the reason `gone`. */
export type NoteViewer =
  | { user_id: string; role: NoteRole }
  | { user_id: string; role: null; gone: 'unshared' | 'purged' };

/** A write of one note: columns that change, all users whose feed gets it, and the event. */
export interface NoteChange {
  columns: Partial<NoteRow>;
  viewers: NoteViewer[];
  event: { type: string; data?: Record<string, unknown> } | null;
}

/** The role of a user in a note; null without access. */
export const roleIn = ({ member_ids, member_roles }: NoteRow, userId: string): NoteRole | null =>
  member_roles[member_ids.indexOf(userId)] ?? null;

/** Whether a role allows what `least` allows. */
export const includes = (role: NoteRole, least: NoteRole): boolean =>
  NOTE_ROLES.indexOf(role) >= NOTE_ROLES.indexOf(least);

/** Everyone who sees a note. */
export const viewersOf = ({ member_ids, member_roles }: NoteRow): NoteViewer[] =>
  member_ids.map((user_id, n) => ({ user_id, role: member_roles[n]! }));

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
  /** Days until the note is purged; 0 means never. */
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

/** The change of a note that moves to the trash. @param keepDays days until it is purged; 0 means never */
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
