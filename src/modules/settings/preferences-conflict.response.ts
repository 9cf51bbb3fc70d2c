import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';

/** 409 `conflict`: the preferences as they are now, to merge with. */
export class PreferencesConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  @ApiProperty({ type: 'integer', minimum: 0, example: 4, description: 'The one to retry with.' })
  rev!: number;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { theme: 'dark' } })
  preferences!: Record<string, unknown>;
}
