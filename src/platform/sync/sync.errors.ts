import { ApiProperty } from '@nestjs/swagger';
import { defineError } from '../http/api-error.js';
import { ErrorResponse } from '../http/error.response.js';

/** 410 `cursor_expired`: the request that rebuilds the index. */
class CursorExpiredResponse extends ErrorResponse {
  @ApiProperty({ enum: ['cursor_expired'], example: 'cursor_expired' }) override error!: 'cursor_expired';
  @ApiProperty({ enum: [true], example: true }) reset_required!: true;
  @ApiProperty({ example: 'GET /apis/v1/notes/index', description: 'The request that rebuilds the index.' })
  hint!: string;
}

export const CURSOR_EXPIRED = defineError(
  410,
  'cursor_expired',
  'The cursor has expired; rebuild the index with the request in `hint`.',
  { example: { reset_required: true, hint: 'GET /apis/v1/notes/index' }, type: CursorExpiredResponse },
);
