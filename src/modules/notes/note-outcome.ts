import { revisionTag } from '../../platform/concurrency/expected-revision.js';
import type { ApiError, ErrorKind } from '../../platform/http/api-error.js';
import { Errors, fieldError } from '../../platform/http/errors.js';
import { NoteErrors } from './notes.errors.js';
import type { NoteOutcome } from './notes.repository.js';

const REJECTIONS: Partial<Record<NoteOutcome['outcome'], ErrorKind>> = {
  not_found: NoteErrors.notFound,
  forbidden: Errors.forbidden,
  no_changes: NoteErrors.noChanges,
  already_exists: NoteErrors.alreadyExists,
};

/**
 * Reads the result of a write.
 * @param invalid error of the request itself; thrown unless an earlier check of the contract failed
 * @returns JSON of the written note
 * @throws ApiError for every other outcome
 */
export function written({ outcome, revision, json }: NoteOutcome, id: string, invalid?: ApiError): string {
  const members = () => JSON.parse(json ?? '{}') as Record<string, unknown>;
  switch (outcome) {
    case 'ok':
      return json ?? 'null';
    case 'invalid_request':
      throw invalid ?? new Error('the note was not written, without a reason');
    case 'deleted':
      throw NoteErrors.deleted.with({ body: members() });
    case 'conflict':
      throw NoteErrors.conflict.with({
        body: members(),
        headers: { ETag: revisionTag('note', id, revision ?? 0) },
      });
    case 'unknown_folder':
      throw fieldError('folder_id', 'unknown_folder', 'folder_id is not one of your note folders');
    default:
      throw (REJECTIONS[outcome] as ErrorKind).with();
  }
}
