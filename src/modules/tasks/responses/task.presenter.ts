import { Injectable } from '@nestjs/common';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader } from '../../../platform/database/tx.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { EnvelopeOf } from '../../../platform/resources/resource.js';
import type { TaskWritten } from '../changes/task-writes.repository.js';
import { TASKS } from '../tasks.dto.js';
import { TaskReferences } from './task-references.js';

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

/** Turns results of writes of tasks into responses. */
@Injectable()
export class TaskResults {
  constructor(private readonly references: TaskReferences) {}

  /** The complete JSON of the written task. @throws ApiError 409 `conflict` */
  async task(reader: Reader, ctx: RequestContext, id: string, written: TaskWritten): Promise<string> {
    const { isConflict, revision, json, refs } = written;
    const [task = 'null'] = await this.references.complete(reader, ctx, [{ task: json, refs }]);
    if (!isConflict) return task;
    throw TASKS.conflict!.with({
      body: { revision, task: JSON.parse(task) as unknown },
      headers: { ETag: revisionTag('task', id, revision) },
    });
  }

  /** `{ task }` and other members with the ETag. @throws ApiError 409 `conflict` */
  async reply<T extends TaskEnvelope>(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    written: TaskWritten,
    others: OtherTexts<T>,
    options?: TaskReplyOptions,
  ): Promise<JsonReply<T>> {
    return taskReply<T>(id, written.revision, await this.task(reader, ctx, id, written), others, options);
  }
}
