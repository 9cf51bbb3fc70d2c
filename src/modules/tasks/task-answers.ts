import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader } from '../../platform/database/tx.js';
import type { ApiError } from '../../platform/http/api-error.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { assertWritten } from './task-outcome.js';
import { taskReply } from './task.presenter.js';
import { TaskReferences } from './task-references.js';
import type { TaskOutcome } from './tasks.repository.js';

/** Makes answers out of what writes of tasks came to. */
@Injectable()
export class TaskAnswers {
  constructor(private readonly references: TaskReferences) {}

  /** The task written, complete. @throws ApiError for every outcome but success */
  async task(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    result: TaskOutcome,
    wrong?: ApiError,
  ): Promise<string> {
    const shown = (result.outcome === 'ok' || result.outcome === 'conflict') && result.json !== null;
    const [task = null] = shown
      ? await this.references.complete(reader, ctx, [{ task: result.json as string, refs: result.refs }])
      : [];
    assertWritten(result, id, task, wrong);
    return task ?? 'null';
  }

  /** `{ task }` and more with the ETag. @throws ApiError for every outcome but success */
  async reply(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    result: TaskOutcome,
    extras: Parameters<typeof taskReply>[3] & { wrong?: ApiError } = {},
  ): Promise<JsonReply> {
    const { wrong, ...rest } = extras;
    const task = await this.task(reader, ctx, id, result, wrong);
    return taskReply(id, result.revision ?? 0, task, rest);
  }
}
