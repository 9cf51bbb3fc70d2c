import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';

export class QuotaExceededResponse extends ErrorResponse {
  /** The quota, as in `quotas` of `GET /tenant`. @example "forms" */ quota!: string;
  @ApiProperty({ enum: ['user', 'item'], example: 'user' }) scope!: 'user' | 'item';
  @ApiProperty({ type: 'integer', minimum: 1, example: 1_000 }) limit!: number;
}
