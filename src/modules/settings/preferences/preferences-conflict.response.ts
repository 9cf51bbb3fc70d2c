import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../../platform/http/error.response.js';

/** 409 `conflict`: the current preferences, to merge with. */
export class PreferencesConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  /** The current revision, for the retry. @example 4 */
  @ApiProperty({ type: 'integer', minimum: 0 }) rev!: number;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { theme: 'dark' } })
  preferences!: Record<string, unknown>;
}
