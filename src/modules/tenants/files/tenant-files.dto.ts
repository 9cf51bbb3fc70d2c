import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { Nullable } from '../../../platform/http/input.decorators.js';

/** 1 PiB. */
const MAX_BYTES = 2 ** 50;

export class UpdateFileLimits {
  /** Limit of each user, bytes; null: that of the deployment, 0: none. Files above a new limit stay. */
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_BYTES,
    nullable: true,
    example: 1_073_741_824,
  })
  @Nullable()
  @Max(MAX_BYTES)
  @Min(0)
  @IsInt()
  user_limit_bytes?: number | null;
}
