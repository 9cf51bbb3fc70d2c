import { revisionTag } from '../../platform/concurrency/expected-revision.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import { VERSIONED_FIELDS } from './notes.dto.js';

// The view note_views makes the JSON of notes; these functions add the envelopes.

/** `{ note }` with its ETag. */
export function noteReply(
  id: string,
  revision: number,
  note: string,
  extra: { status?: number; location?: string } = {},
): JsonReply {
  return new JsonReply(`{"note":${note}}`, { etag: revisionTag('note', id, revision), ...extra });
}

/** `{ note, role }` with its ETag. */
export function noteWithRole(id: string, revision: number, note: string, role: string): JsonReply {
  return new JsonReply(`{"note":${note},"role":"${role}"}`, { etag: revisionTag('note', id, revision) });
}

/** `{ note, purged: true }`. A repeated request gets it with empty versioned fields: nothing of a purged note is stored. */
export function purgedReply(note: string): JsonReply {
  const values = JSON.parse(note) as Record<string, unknown>;
  for (const name of VERSIONED_FIELDS) values[name] = Array.isArray(values[name]) ? [] : '';
  const emptied = JSON.stringify(values);
  return new JsonReply(`{"note":${note},"purged":true}`, { remembered: `{"note":${emptied},"purged":true}` });
}

export function revisionReply(revision: string): JsonReply {
  return new JsonReply(`{"revision":${revision}}`);
}
