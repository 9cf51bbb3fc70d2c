import { revisionTag } from '../../platform/concurrency/expected-revision.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import {
  type NoteEnvelope,
  type NoteRevisionEnvelope,
  type NoteTaskEnvelope,
  type NoteWithRoleEnvelope,
  type PurgedNoteEnvelope,
  VERSIONED_FIELDS,
} from './notes.dto.js';

// The view note_views makes the JSON of notes; these functions add the envelopes.

/** `{ note }` with its ETag. */
export const noteReply = (
  id: string,
  revision: number,
  note: string,
  extra: { status?: number; location?: string } = {},
): JsonReply<NoteEnvelope> =>
  JsonReply.ofTexts<NoteEnvelope>({ note }, { etag: revisionTag('note', id, revision), ...extra });

/** `{ note, role }` with its ETag. */
export const noteWithRole = (
  id: string,
  revision: number,
  note: string,
  role: NoteWithRoleEnvelope['role'],
): JsonReply<NoteWithRoleEnvelope> =>
  JsonReply.ofTexts<NoteWithRoleEnvelope, 'note'>(
    { note },
    { etag: revisionTag('note', id, revision) },
    { role },
  );

/** `{ note, purged: true }`. A repeated request gets it with empty versioned fields: nothing of a purged note is stored. */
export function purgedReply(json: string): JsonReply<PurgedNoteEnvelope> {
  const note = JSON.parse(json) as Record<string, unknown>;
  for (const name of VERSIONED_FIELDS) note[name] = Array.isArray(note[name]) ? [] : '';
  const remembered = JSON.stringify({ note, purged: true });
  return JsonReply.ofTexts<PurgedNoteEnvelope, 'note'>({ note: json }, { remembered }, { purged: true });
}

export const revisionReply = (revision: string): JsonReply<NoteRevisionEnvelope> =>
  JsonReply.ofTexts<NoteRevisionEnvelope>({ revision });

/** 201 `{ task, note }` with the ETag of the note and the location of the task. */
export const noteWithTask = (
  { id, revision, note }: { id: string; revision: number; note: string },
  { id: taskId, task }: { id: string; task: string },
): JsonReply<NoteTaskEnvelope> =>
  JsonReply.ofTexts<NoteTaskEnvelope>(
    { task, note },
    { status: 201, etag: revisionTag('note', id, revision), location: `/apis/v1/tasks/${taskId}` },
  );
