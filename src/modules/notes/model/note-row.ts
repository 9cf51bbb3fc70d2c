import { NOTE_ROLES, type NoteRole, type Note } from '../note.entity.js';

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
