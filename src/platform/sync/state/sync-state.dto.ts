import { PickType } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { WholeNumber } from '../../http/input.decorators.js';
import { ChangesQuery } from '../feed.dto.js';

const HEAD = 'head must be a whole number';

export class SyncStateQuery extends PickType(ChangesQuery, ['wait'] as const) {
  /**
   * The `head` of the last response. With `wait`, the response comes when the head differs from it.
   * @example 42
   */
  @IsOptional()
  @WholeNumber()
  @Max(Number.MAX_SAFE_INTEGER, { message: HEAD })
  @Min(0, { message: HEAD })
  @IsInt({ message: HEAD })
  head?: number;
}
