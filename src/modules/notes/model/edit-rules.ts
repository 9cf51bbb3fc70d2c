import { isDeepStrictEqual } from 'node:util';
import { type ApiError, Errors, fieldError } from '../../../platform/http/errors.js';
import { NOTE_ROLES, type NoteRole } from '../notes.schema.js';
import { NoteErrors } from '../notes.dto.js';
import { includes, type LockedNote, type NoteCommand, rejectTrashed, roleIn } from './note-rules.js';

/** The fields that a client changes, and where the caller files the note. Missing fields stay. */
export interface NotePatch {
  title?: string;
  labels?: string[];
  content?: string;
  folder_id?: string | null;
}

/** What a change of a note reads. */
export interface NoteFacts {
  note: LockedNote | null;
  /** Whether the token of the request opens the share link of the note: it is the same, and the owner is an active member. */
  hasLink: boolean;
  /** The folder in which the caller files the note. */
  folder: string | null;
  /** Whether the folder of the request belongs to the caller. */
  isOwnFolder: boolean;
  /** The content of the note, if the request has one. */
  content: string | null;
}

export interface EditCommand extends NoteCommand {
  patch: NotePatch;
  /** The revision that the client read; null only with an error of the request. */
  base: number | null;
}

/** A new revision of a note. */
export interface NoteEdit {
  columns: Pick<NotePatch, 'title' | 'labels'>;
  /** Missing: it stays. */
  content?: string | undefined;
  /** The folder of the caller; missing: it stays. */
  folder?: string | null | undefined;
}

/** The caller files the note elsewhere: no revision, and a change in the feed of the caller only. */
export interface NotePlacement {
  place: string | null;
}

/** Roles that change the content. */
export const EDITORS = NOTE_ROLES.filter((role) => includes(role, 'editor'));

/** The row of a new note, without its times. */
export const newNote = (userId: string, { title = '', labels = [] }: NotePatch) => ({
  owner_id: userId,
  title,
  labels,
  links: [],
  revision: 1,
  body_rev: 1,
  member_ids: [userId],
  member_roles: ['owner'],
  updated_by: userId,
});

/** The edit of all fields that a request has. */
export const editOf = ({ title, labels, content, folder_id }: NotePatch): NoteEdit => ({
  columns: { ...(title !== undefined && { title }), ...(labels !== undefined && { labels }) },
  content,
  folder: folder_id,
});

/** Changes fields and the folder of a note, compared with the revision that the client read. */
export function editNote(
  facts: NoteFacts,
  { userId, error, patch, base }: EditCommand,
): NoteEdit | NotePlacement | ApiError | 'conflict' {
  const { note } = facts;
  const member = note && roleIn(note, userId);
  const role = note && higher(member, linkRole(note, facts.hasLink));
  if (note === null || role === null) return NoteErrors.notFound.with();
  // Callers with the role of a share link read null as the folder: when they send this null back, it does not change the folder.
  const folder = role !== member && patch.folder_id === null ? undefined : patch.folder_id;
  const { folder_id: _, ...fields } = patch;
  const isOnlyPlaced = folder !== undefined && Object.values(fields).every((value) => value === undefined);
  // Members with any role file the note, and only members do.
  if ((!EDITORS.includes(role) && !isOnlyPlaced) || (folder !== undefined && member === null))
    return Errors.forbidden.with();
  const rejection = rejectTrashed(note) ?? error;
  if (rejection) return rejection;
  if (folder && !facts.isOwnFolder) return unknownFolder();
  if (note.revision !== base) return 'conflict';
  const edit = editOf({
    title: differing(fields.title, note.title),
    labels: differing(fields.labels, note.labels),
    content: differing(fields.content, facts.content),
    folder_id: differing(folder, facts.folder),
  });
  if (Object.keys(edit.columns).length > 0 || edit.content !== undefined) return edit;
  if (edit.folder === undefined) return NoteErrors.noChanges.with();
  return member === 'owner' ? edit : { place: edit.folder };
}

export const unknownFolder = (): ApiError =>
  fieldError('folder_id', 'unknown_folder', 'folder_id is not one of your note folders');

/** The role that the share link of a note gives; null if it has ended. */
const linkRole = ({ deleted_at, share_expires_at, share_role, now }: LockedNote, hasLink: boolean) =>
  hasLink && deleted_at === null && (share_expires_at === null || share_expires_at > now) ? share_role : null;

const higher = (one: NoteRole | null, other: NoteRole | null): NoteRole | null =>
  one !== null && (other === null || includes(one, other)) ? one : other;

/** The value of the request, if it changes the present one. */
const differing = <T>(given: T | undefined, present: T | null): T | undefined =>
  isDeepStrictEqual(given, present) ? undefined : given;
