import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import { fileContent, STORED_FILE_TYPES } from '../http/api-docs.js';

const text = { type: 'string' } as const;
const HEADERS = {
  'Content-Disposition': {
    description: 'The name to keep it under (RFC 6266).',
    schema: text,
    example: 'attachment; filename="plan.pdf"',
  },
  ETag: { description: 'The SHA-256 of the whole file.', schema: text, example: `"${'a3'.repeat(32)}"` },
  'Accept-Ranges': { description: '`bytes`', schema: text, example: 'bytes' },
};
const BYTES = fileContent(STORED_FILE_TYPES);

/** Documents a response with a stored file (`ContentReply`). */
export function ApiDownload(description: string): MethodDecorator {
  const range = { description: 'Which part.', schema: text, example: 'bytes 0-99/48213' };
  return applyDecorators(
    ApiHeader({
      name: 'Range',
      required: false,
      description:
        'One range of bytes (RFC 9110). The response to several ranges, or to an invalid one, is the whole file.',
      schema: text,
    }),
    ApiHeader({ name: 'If-Range', required: false, description: 'The ETag the range is of.', schema: text }),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'ETags you have.', schema: text }),
    ApiResponse({ status: 200, description, headers: HEADERS, content: BYTES }),
    ApiResponse({
      status: 206,
      description: 'The part asked for.',
      headers: { ...HEADERS, 'Content-Range': range },
      content: BYTES,
    }),
    ApiResponse({ status: 304, description: 'You have it already.', headers: { ETag: HEADERS.ETag } }),
  );
}
