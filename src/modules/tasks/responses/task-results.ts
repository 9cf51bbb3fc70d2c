import { Injectable } from '@nestjs/common';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Reader } from '../../../platform/database/tx.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskReferences } from './task-references.js';
import { TaskErrors, TASKS } from '../tasks.errors.js';
import type { TaskOutcome } from '../tasks.repository.js';

export interface ReplyOptions {
  status?: number;
  location?: string;
  /** Further members, each as JSON text. */
  more?: Record<string, string>;
  /** The error of the request itself; earlier errors of the write come first. */
  error?: ApiError;
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

/** Errors of outcomes without further data. */
const REJECTIONS: Partial<Record<TaskOutcome['outcome'], () => ApiError>> = {
  not_found: () => TaskErrors.notFound.with(),
  forbidden: () => Errors.forbidden.with(),
  already_exists: () => TaskErrors.alreadyExists.with(),
  unknown_folder: () =>
    fieldError('folder_id', 'unknown_folder', 'folder_id is not a task folder you may write to'),
  no_date: () => fieldError('recurrence', 'no_date', 'a task that repeats needs a date'),
};

/** Turns results of writes of tasks into responses. */
@Injectable()
export class TaskResults {
  constructor(private readonly references: TaskReferences) {}

  /** The complete JSON of the written task. @throws ApiError for every outcome but success */
  async task(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    result: TaskOutcome,
    error?: ApiError,
  ): Promise<string> {
    const { outcome, revision, json, refs } = result;
    if (outcome !== 'ok' && outcome !== 'conflict') throw rejection(result, error);
    const [task = 'null'] = await this.references.complete(reader, ctx, [{ task: json ?? 'null', refs }]);
    if (outcome === 'ok') return task;
    throw TASKS.conflict!.with({
      body: { revision, task: JSON.parse(task) as unknown },
      headers: { ETag: revisionTag('task', id, revision ?? 0) },
    });
  }

  /** `{ task }` and further members with the ETag. @throws ApiError for every outcome but success */
  async reply(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    result: TaskOutcome,
    options: ReplyOptions = {},
  ): Promise<JsonReply> {
    const task = await this.task(reader, ctx, id, result, options.error);
    return taskReply(id, result.revision ?? 0, task, options);
  }
}

/** @param error the error of the request itself */
export function rejection({ outcome, json }: TaskOutcome, error?: ApiError): ApiError {
  const rejected = REJECTIONS[outcome]?.();
  if (rejected) return rejected;
  const body = JSON.parse(json ?? 'null') as Record<string, unknown> & string[];
  if (outcome === 'deleted') return TaskErrors.deleted.with({ body });
  if (outcome === 'unknown_user') return inactive('assignees', body);
  if (outcome === 'invalid_request' && error) return error;
  throw new Error(`unexpected outcome of a write of a task: ${outcome}`);
}

/** 422 `unknown_user` for members who are not active. */
export function inactive(field: string, ids: readonly string[]): ApiError {
  const detail = (id: string) => ({
    field,
    code: 'unknown_user',
    message: `${id} is not an active member of this workspace`,
  });
  return TaskErrors.unknownUser.with({ details: ids.map(detail) });
}
