import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import { ApiIfNoneMatch, fileContent, STORED_FILE_TYPES } from '../http/api-docs.js';

const text = { type: 'string' } as const;
const HEADERS = {
  'Content-Disposition': {
    description: 'The name of the file (RFC 6266).',
    schema: text,
    example: 'attachment; filename="plan.pdf"',
  },
  ETag: { description: 'The SHA-256 of the whole file.', schema: text, example: `"${'a3'.repeat(32)}"` },
  'Accept-Ranges': { description: '`bytes`', schema: text, example: 'bytes' },
};
const { 'Content-Disposition': _, ...CURRENT_COPY } = HEADERS;
const BYTES = fileContent(STORED_FILE_TYPES);

/** Documents a response with a stored file (`ContentReply`). */
export function ApiDownload(description: string): MethodDecorator {
  const range = {
    description: 'The range of the response, and the size of the file.',
    schema: text,
    example: 'bytes 0-99/48213',
  };
  return applyDecorators(
    ApiHeader({
      name: 'Range',
      required: false,
      description:
        'One range of bytes (RFC 9110). The response to several ranges, or to an invalid one, is the whole file.',
      schema: text,
    }),
    ApiHeader({
      name: 'If-Range',
      required: false,
      description:
        'The ETag of the file that the range belongs to. For another file the response is the whole file.',
      schema: text,
    }),
    ApiIfNoneMatch(),
    ApiResponse({ status: 200, description, headers: HEADERS, content: BYTES }),
    ApiResponse({
      status: 206,
      description: 'The requested range.',
      headers: { ...HEADERS, 'Content-Range': range },
      content: BYTES,
    }),
    ApiResponse({ status: 304, description: 'The stored copy is current.', headers: CURRENT_COPY }),
  );
}
