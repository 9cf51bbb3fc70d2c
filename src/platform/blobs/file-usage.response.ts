import { ApiProperty } from '@nestjs/swagger';
import type { FileUsage } from './file-limits.js';

/** Kept files and their limits, bytes. */
export class FileUsageResponse {
  /** All files of the workspace. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 734_003_200 }) bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 412 }) count!: number;
  /** 0: no limit, set for the workspace; null: the deployment has no limit. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 10_737_418_240 }) limit_bytes!: number | null;
  /** The files that the caller uploaded. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 15_728_640 }) own_bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 }) own_count!: number;
  /** Limit of each user; 0 and null as in `limit_bytes`. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1_073_741_824 }) user_limit_bytes!: number | null;
}

/** Makes the response from a `FileUsage`. */
export const usageResponse = ({
  files: count,
  own_files: own_count,
  ...usage
}: FileUsage): FileUsageResponse => ({
  ...usage,
  count,
  own_count,
});
