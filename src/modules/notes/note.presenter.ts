import { revisionTag } from '../../platform/concurrency/etag.js';
import { jsonList, JsonReply } from '../../platform/http/json-reply.js';

// The notes themselves arrive as JSON text from the view note_views, which owns their shape; here they get their envelopes.

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

/** `{ note, purged: true }`. */
export function purgedReply(note: string): JsonReply {
  return new JsonReply(`{"note":${note},"purged":true}`);
}

/** `{ <plural>: [...], next }` of JSON texts. */
export function listReply(plural: string, items: string[], next: string | null): JsonReply {
  return new JsonReply(jsonList([plural], items, `"next":${JSON.stringify(next)}}`));
}

export function revisionReply(revision: string): JsonReply {
  return new JsonReply(`{"revision":${revision}}`);
}
