import { isDeepStrictEqual } from 'node:util';
import { type ApiError, detailsAt, Errors } from '../../../platform/http/errors.js';
import type { NoteRole } from '../notes.schema.js';
import { NoteErrors } from '../notes.dto.js';
import {
  type LockedNote,
  type NoteChange,
  type NoteCommand,
  type NoteDecision,
  type NoteRow,
  type NoteViewer,
  rejectTrashed,
  rejectWriter,
  roleIn,
  viewersOf,
} from './note-rules.js';

export type SharedRole = Exclude<NoteRole, 'owner'>;

export type ShareAction =
  /** A new link, or other terms for the existing one. */
  | { kind: 'set'; token: string; role: SharedRole; expiresAt: Date | null }
  | { kind: 'regenerate'; token: string }
  | { kind: 'revoke' };

const NO_LINK = { share_token: null, share_role: null, share_expires_at: null, share_created_at: null };

/** Changes the share link of a note. @param command.action null only with an error of the request */
export function shareNote(
  note: LockedNote | null,
  { userId, error, action }: NoteCommand & { action: ShareAction | null },
): NoteDecision {
  const rejection = rejectWriter(note, userId, 'owner') ?? rejectTrashed(note!) ?? error;
  if (rejection) return rejection;
  const columns = linkAfter(note!, action!);
  if (columns === null) return action!.kind === 'revoke' ? 'unchanged' : NoteErrors.notShared.with();
  return { columns, viewers: viewersOf(note!), event: { type: 'note.shared' } };
}

/** @returns null if the note has no link to change */
function linkAfter(note: LockedNote, action: ShareAction): Partial<NoteRow> | null {
  const { now } = note;
  if (action.kind === 'set')
    return {
      share_token: note.share_token ?? action.token,
      share_role: action.role,
      share_expires_at: action.expiresAt,
      share_created_at: note.share_created_at ?? now,
    };
  if (note.share_token === null) return null;
  return action.kind === 'revoke' ? NO_LINK : { share_token: action.token, share_created_at: now };
}

export interface InviteCommand extends NoteCommand {
  /** Roles by user id, in the order of the list; null only with an error of the request. */
  invited: ReadonlyMap<string, SharedRole> | null;
}

/**
 * Replaces the list of invited members; the owner in it is ignored. An invited member may only leave: the list as it is, without this
 * member.
 * @param inactive deactivated members among the users who are added
 */
export function inviteToNote(
  note: NoteRow | null,
  { userId, error, invited }: InviteCommand,
  inactive: readonly string[],
): NoteDecision {
  const role = note && roleIn(note, userId);
  if (note === null || role === null) return NoteErrors.notFound.with();
  if (role !== 'owner' && !leavesOnly(note, userId, invited)) return Errors.forbidden.with();
  const rejection = rejectTrashed(note) ?? error;
  if (rejection || invited === null) return rejection!;
  if (inactive.length > 0) return inactiveUsers(inactive, [...invited.keys()]);
  const members =
    role === 'owner'
      ? [...invited].filter(([id]) => id !== note.owner_id)
      : invitedTo(note).filter(([id]) => id !== userId);
  return isDeepStrictEqual(members, invitedTo(note))
    ? 'unchanged'
    : changeMembers(note, note.owner_id, members);
}

/** The note gets another owner, who is not in the list of invited members any more. The former owner no longer sees it; its link ends. */
export function transferNote(note: NoteRow, to: string): NoteChange {
  const members = invitedTo(note).filter(([id]) => id !== to);
  const change = changeMembers(note, to, members);
  return { ...change, columns: { ...change.columns, owner_id: to, ...NO_LINK } };
}

/** 422 `unknown_user` for these positions of the list. */
export function unknownUsers(positions: readonly number[], reason: string): ApiError {
  return NoteErrors.unknownUser.with({ details: detailsAt('invited', positions, 'unknown_user', reason) });
}

const inactiveUsers = (ids: readonly string[], invited: readonly string[]): ApiError =>
  unknownUsers(
    ids.map((id) => invited.indexOf(id)),
    'is deactivated',
  );

type Member = [id: string, role: NoteRole];

/** The members of a note besides its owner. */
const invitedTo = ({ owner_id, member_ids, member_roles }: NoteRow): Member[] =>
  member_ids.flatMap((id, n): Member[] => (id === owner_id ? [] : [[id, member_roles[n]!]]));

function leavesOnly(note: NoteRow, userId: string, invited: InviteCommand['invited']): boolean {
  if (invited === null || invited.has(userId)) return false;
  const others = note.member_ids.filter((id) => id !== userId && id !== note.owner_id);
  return (
    others.every((id) => invited.has(id)) && [...invited.keys()].every((id) => note.member_ids.includes(id))
  );
}

/** Removed members get a removal in their feed. The event names the users who were invited, which a new owner was not. */
function changeMembers(note: NoteRow, owner: string, members: readonly Member[]): NoteChange {
  const after: Member[] = [[owner, 'owner'], ...members];
  const ids = after.map(([id]) => id);
  const removed = note.member_ids.filter((id) => !ids.includes(id));
  return {
    columns: { member_ids: ids, member_roles: after.map(([, role]) => role) },
    viewers: [
      ...after.map(([user_id, role]) => ({ user_id, role })),
      ...removed.map((user_id): NoteViewer => ({ user_id, role: null, gone: 'unshared' })),
    ],
    event: {
      type: 'note.shared',
      data: { added: ids.filter((id) => id !== owner && !note.member_ids.includes(id)), removed },
    },
  };
}
