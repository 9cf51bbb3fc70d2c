import { Injectable } from '@nestjs/common';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader } from '../../../platform/database/tx.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskReferences } from './task-references.js';
import { TASKS } from '../tasks.errors.js';
import type { TaskWritten } from '../changes/task-writes.repository.js';

export interface ReplyOptions {
  status?: number;
  location?: string;
  /** Further members, each as JSON text. */
  more?: Record<string, string>;
}

/** `{ task, ...more }` with its ETag. @param task JSON from the view task_views */
export function taskReply(id: string, revision: number, task: string, options: ReplyOptions = {}): JsonReply {
  const { more = {}, status, location } = options;
  const members = Object.entries({ task, ...more }).map(([name, json]) => `"${name}":${json}`);
  return new JsonReply(`{${members.join(',')}}`, {
    etag: revisionTag('task', id, revision),
    status,
    location,
  });
}

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

  /** `{ task }` and further members with the ETag. @throws ApiError 409 `conflict` */
  async reply(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    written: TaskWritten,
    options: ReplyOptions = {},
  ): Promise<JsonReply> {
    return taskReply(id, written.revision, await this.task(reader, ctx, id, written), options);
  }
}
