import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';

/** 413 `file_too_large` with the maximum size. */
export class FileTooLargeResponse extends ErrorResponse {
  @ApiProperty({ enum: ['file_too_large'], example: 'file_too_large' }) override error!: 'file_too_large';
  @ApiProperty({ type: 'integer', minimum: 1, example: 20_971_520 }) max_bytes!: number;
}
