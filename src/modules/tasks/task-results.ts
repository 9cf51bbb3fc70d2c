import { Injectable } from '@nestjs/common';
import { revisionTag } from '../../platform/concurrency/etag.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader } from '../../platform/database/tx.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { jsonList, JsonReply } from '../../platform/http/json-reply.js';
import { TaskReferences } from './task-references.js';
import { TaskErrors } from './tasks.errors.js';
import type { TaskOutcome } from './tasks.repository.js';

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

/**
 * Refuses everything a write of a task may come to but success.
 * @param task completed JSON of the task, where there is one
 * @param wrong the problem of the request itself, thrown where nothing comes before it
 * @throws ApiError unless the outcome is `ok`
 */
export function assertWritten(
  { outcome, revision, json }: TaskOutcome,
  id: string,
  task: string | null,
  wrong?: ApiError,
): void {
  switch (outcome) {
    case 'ok':
      return;
    case 'not_found':
      throw TaskErrors.notFound.with();
    case 'part_not_found':
      throw TaskErrors.partNotFound.with();
    case 'forbidden':
      throw Errors.forbidden.with();
    case 'deleted':
      throw TaskErrors.deleted.with({ body: JSON.parse(json ?? '{}') as Record<string, unknown> });
    case 'conflict':
      throw TaskErrors.conflict.with({
        body: { revision, task: JSON.parse(task ?? 'null') as unknown },
        headers: { ETag: revisionTag('task', id, revision ?? 0) },
      });
    case 'already_exists':
      throw TaskErrors.alreadyExists.with();
    case 'too_many':
      throw TaskErrors.tooManySubtasks.with();
    case 'unknown_folder':
      throw fieldError('folder_id', 'unknown_folder', 'folder_id is not a task folder you may write to');
    case 'unknown_zone':
      throw fieldError('time_zone', 'is_time_zone', 'time_zone is not known to this server');
    case 'no_date':
      throw fieldError('recurrence', 'no_date', 'a task that repeats needs a date');
    case 'cannot_see':
      throw fieldError('assignee', 'cannot_see_task', 'assignee must be somebody who sees the task');
    case 'unchecked':
      throw wrong ?? new Error('the task was not written and nothing says why');
    case 'linked':
    case 'replan':
      throw new Error(`outcome ${outcome} must be dealt with where the write is made`);
  }
}

/** 422 `validation_failed` for one field. */
export function fieldError(field: string, code: string, message: string): ApiError {
  return Errors.validationFailed.with({ details: [{ field, code, message }] });
}

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
