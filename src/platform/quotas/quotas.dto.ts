import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../http/error.response.js';
import { defineError } from '../http/errors.js';

export class QuotaExceededResponse extends ErrorResponse {
  /** The quota, as in `quotas` of `GET /tenant`. @example "forms" */ quota!: string;
  @ApiProperty({ enum: ['user', 'item'], example: 'user' }) scope!: 'user' | 'item';
  @ApiProperty({ type: 'integer', minimum: 1, example: 1_000 }) limit!: number;
}

export const QuotaErrors = {
  exceeded: defineError(
    409,
    'quota_exceeded',
    'The user or the item has the maximum number of such objects. Delete or end some of them first.',
    { example: { quota: 'forms', scope: 'user', limit: 1_000 }, type: QuotaExceededResponse },
  ),
} as const;
