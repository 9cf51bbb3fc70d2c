import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';

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
