import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { Optional } from '../../../platform/http/input.decorators.js';

export const FEED_DETAILS = ['full', 'busy'] as const;

export class CreateFeed {
  /** full: what you see. busy: times alone. Default: full. */
  @ApiPropertyOptional({ enum: FEED_DETAILS, example: 'busy' })
  @Optional()
  @IsIn(FEED_DETAILS)
  details?: (typeof FEED_DETAILS)[number];
}
