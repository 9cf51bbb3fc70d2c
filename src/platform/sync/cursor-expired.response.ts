import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';

/** 410 `cursor_expired`: the request that rebuilds the index. */
export class CursorExpiredResponse extends ErrorResponse {
  @ApiProperty({ enum: ['cursor_expired'], example: 'cursor_expired' }) override error!: 'cursor_expired';
  @ApiProperty({ enum: [true], example: true }) reset_required!: true;
  @ApiProperty({ example: 'GET /apis/v1/notes/index', description: 'The request that rebuilds the index.' })
  hint!: string;
}
