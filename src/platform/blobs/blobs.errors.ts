import { defineError } from '../http/api-error.js';
import { FileTooLargeResponse } from './file-too-large.response.js';
import { Errors } from '../http/errors.js';

/** The errors of operations that take or give files. */
export const BlobErrors = {
  invalidMultipart: defineError(400, 'invalid_multipart', 'The body is not valid multipart/form-data.'),
  uploadTimeout: defineError(408, 'upload_timeout', 'The file did not arrive in time.'),
  fileTooLarge: defineError(
    413,
    'file_too_large',
    'The file is larger than this route accepts.',
    { max_bytes: 20_971_520 },
    FileTooLargeResponse,
  ),
  tooManyUploads: defineError(429, 'too_many_uploads', 'Too many of your uploads are under way.'),
  unavailable: defineError(
    503,
    'blob_store_unavailable',
    'Files cannot be stored or read right now; try again shortly.',
  ),
} as const;

/** What an operation that takes a file may answer. */
export const UPLOAD_ERRORS = [
  BlobErrors.invalidMultipart,
  BlobErrors.uploadTimeout,
  BlobErrors.fileTooLarge,
  BlobErrors.tooManyUploads,
  BlobErrors.unavailable,
];

/** What an operation that gives a file may answer. */
export const DOWNLOAD_ERRORS = [Errors.rangeNotSatisfiable, BlobErrors.unavailable];
