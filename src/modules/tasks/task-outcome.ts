import { revisionTag } from '../../platform/concurrency/etag.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { TaskErrors } from './tasks.errors.js';
import type { TaskOutcome } from './tasks.repository.js';

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
