import { revisionTag } from '../../platform/concurrency/etag.js';
import { JsonReply } from '../../platform/http/json-reply.js';

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

/** `{ note, purged: true }`. A repeated request gets it without title and content: nothing of a purged note is stored. */
export function purgedReply(note: string): JsonReply {
  const emptied = JSON.stringify({ ...JSON.parse(note), title: '', content: '', labels: [] });
  return new JsonReply(`{"note":${note},"purged":true}`, { remembered: `{"note":${emptied},"purged":true}` });
}

export function revisionReply(revision: string): JsonReply {
  return new JsonReply(`{"revision":${revision}}`);
}
