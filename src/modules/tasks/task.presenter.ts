import { revisionTag } from '../../platform/concurrency/etag.js';
import { jsonList, JsonReply } from '../../platform/http/json-reply.js';

// Tasks arrive as JSON text from the view task_views, which owns their shape; here they get their envelopes.

interface Extras {
  status?: number;
  location?: string;
  /** Further members, each as JSON text. */
  more?: Record<string, string>;
}

/** `{ task, ...more }` with its ETag. */
export function taskReply(id: string, revision: number, task: string, extras: Extras = {}): JsonReply {
  const { more = {}, ...options } = extras;
  const members = Object.entries({ task, ...more }).map(([name, json]) => `"${name}":${json}`);
  return new JsonReply(`{${members.join(',')}}`, { etag: revisionTag('task', id, revision), ...options });
}

/** `{ <plural>: [...], next }` of JSON texts. */
export function listReply(plural: string, items: string[], next: string | null): JsonReply {
  return new JsonReply(jsonList([plural], items, `"next":${JSON.stringify(next)}}`));
}
