import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';
import { defineError, Errors } from '../http/errors.js';

/** 413 `file_too_large` with the maximum size. */
export class FileTooLargeResponse extends ErrorResponse {
  @ApiProperty({ enum: ['file_too_large'], example: 'file_too_large' }) override error!: 'file_too_large';
  @ApiProperty({ type: 'integer', minimum: 1, example: 20_971_520 }) max_bytes!: number;
}

/** 507 `file_limit_reached` with the limit. */
export class FileLimitReachedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['file_limit_reached'], example: 'file_limit_reached' })
  override error!: 'file_limit_reached';
  /** The limit of the workspace or that of each user. */
  @ApiProperty({ enum: ['user', 'workspace'], example: 'user' }) scope!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 1_073_000_000 }) used_bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 1, example: 1_073_741_824 }) limit_bytes!: number;
}

/** The errors of uploads and downloads. */
export const BlobErrors = {
  invalidMultipart: defineError(400, 'invalid_multipart', 'The body is not valid multipart/form-data.'),
  uploadTimeout: defineError(408, 'upload_timeout', 'The file did not arrive in time.'),
  fileTooLarge: defineError(413, 'file_too_large', 'The file is larger than this route accepts.', {
    example: { max_bytes: 20_971_520 },
    type: FileTooLargeResponse,
  }),
  tooManyUploads: defineError(
    429,
    'too_many_uploads',
    'Too many of your uploads are in progress; retry when one has ended.',
  ),
  fileLimitReached: defineError(
    507,
    'file_limit_reached',
    'The files would exceed the limit of the workspace or of the user.',
    {
      example: { scope: 'user', used_bytes: 1_073_000_000, limit_bytes: 1_073_741_824 },
      type: FileLimitReachedResponse,
    },
  ),
  unavailable: defineError(503, 'blob_store_unavailable', 'The file storage is unavailable; retry shortly.'),
} as const;

/** The errors of operations with an upload. */
export const UPLOAD_ERRORS = [
  BlobErrors.invalidMultipart,
  BlobErrors.uploadTimeout,
  BlobErrors.fileTooLarge,
  BlobErrors.tooManyUploads,
  BlobErrors.fileLimitReached,
  BlobErrors.unavailable,
];

/** The errors of operations with a download. */
export const DOWNLOAD_ERRORS = [Errors.rangeNotSatisfiable, BlobErrors.unavailable];
