import { revisionTag } from '../../platform/concurrency/etag.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { NoteErrors } from './notes.errors.js';
import type { NoteOutcome } from './notes.repository.js';

/**
 * Reads what a write of a note came to.
 * @param wrong the problem of the request itself, thrown where nothing comes before it
 * @returns the note's JSON when it was written
 * @throws ApiError for every other outcome
 */
export function written({ outcome, revision, json }: NoteOutcome, id: string, wrong?: ApiError): string {
  const extras = () => JSON.parse(json ?? '{}') as Record<string, unknown>;
  switch (outcome) {
    case 'ok':
      return json ?? 'null';
    case 'not_found':
      throw NoteErrors.notFound.with();
    case 'forbidden':
      throw Errors.forbidden.with();
    case 'deleted':
      throw NoteErrors.deleted.with({ body: extras() });
    case 'conflict':
      throw NoteErrors.conflict.with({
        body: extras(),
        headers: { ETag: revisionTag('note', id, revision ?? 0) },
      });
    case 'no_changes':
      throw NoteErrors.noChanges.with();
    case 'already_exists':
      throw NoteErrors.alreadyExists.with();
    case 'not_in_trash':
      throw NoteErrors.notInTrash.with();
    case 'not_shared':
      throw NoteErrors.notShared.with();
    case 'unknown_folder':
      throw fieldError('folder_id', 'unknown_folder', 'folder_id is not one of your note folders');
    case 'too_many_links':
      throw NoteErrors.tooManyLinks.with();
    case 'unchecked':
      throw wrong ?? new Error('the note was not written and nothing says why');
  }
}

/** 422 `validation_failed` for one field. */
export function fieldError(field: string, code: string, message: string): ApiError {
  return Errors.validationFailed.with({ details: [{ field, code, message }] });
}
