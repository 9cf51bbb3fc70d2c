import type { LockedNote } from '../../../src/modules/notes/model/note-rules.js';
import { ApiError } from '../../../src/platform/http/errors.js';

export const now = new Date('2026-06-01T12:00:00.000Z');
export const earlier = new Date('2026-05-01T12:00:00.000Z');

/** A note of alice, which bob edits and carol reads. */
export const noteWith = (change: Partial<LockedNote> = {}): LockedNote => ({
  id: 'note',
  owner_id: 'alice',
  title: 'Note',
  labels: ['a'],
  revision: 3,
  body_rev: 2,
  links: [],
  member_ids: ['alice', 'bob', 'carol'],
  member_roles: ['owner', 'editor', 'viewer'],
  share_role: null,
  share_expires_at: null,
  share_created_at: null,
  share_token: null,
  updated_at: earlier,
  updated_by: 'alice',
  deleted_at: null,
  deleted_by: null,
  purge_at: null,
  now,
  ...change,
});

export const everyone = [
  { user_id: 'alice', role: 'owner' },
  { user_id: 'bob', role: 'editor' },
  { user_id: 'carol', role: 'viewer' },
];

export const trashed = { deleted_at: earlier, deleted_by: 'alice', purge_at: now };

/** The code of an error, the word of a decision, or `ok`. */
export function outcomeOf(decision: unknown): string {
  if (typeof decision === 'string') return decision;
  return decision instanceof ApiError ? decision.kind.code : 'ok';
}
