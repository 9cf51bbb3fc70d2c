import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { EnvelopeOf } from '../../../platform/resources/resource.js';
import type { TASKS } from '../tasks.errors.js';

// The view task_views makes the JSON of tasks; these functions add the envelopes.

export type TaskEnvelope = EnvelopeOf<typeof TASKS, 'item'>;

/** JSON texts of the members of a response beside the task. */
export type OtherTexts<T extends TaskEnvelope> = Record<Exclude<keyof T, 'task'>, string>;

export interface TaskReplyOptions {
  status?: number;
  location?: string;
}

/** `{ task, ... }` with its ETag. */
export const taskReply = <T extends TaskEnvelope>(
  id: string,
  revision: number,
  task: string,
  others: OtherTexts<T>,
  options: TaskReplyOptions = {},
): JsonReply<T> =>
  JsonReply.named({ task, ...others }, { etag: revisionTag('task', id, revision), ...options });
