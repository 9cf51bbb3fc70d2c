import { ApiProperty } from '@nestjs/swagger';

/** Kept files and their limits, bytes. */
export class FileUsageResponse {
  /** All files of the workspace. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 734_003_200 }) bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 412 }) count!: number;
  /** Null: no limit. */
  @ApiProperty({ type: 'integer', minimum: 1, nullable: true, example: 10_737_418_240 })
  limit_bytes!: number | null;
  /** The files that the caller uploaded. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 15_728_640 }) own_bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 }) own_count!: number;
  /** Limit of each user; null: none. */
  @ApiProperty({ type: 'integer', minimum: 1, nullable: true, example: 1_073_741_824 })
  user_limit_bytes!: number | null;
}

export class FileUsageEnvelope {
  files!: FileUsageResponse;
}

export class UserFileUsageResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) user_id!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 15_728_640 }) bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 }) count!: number;
}

export class UserFileUsageListEnvelope {
  users!: UserFileUsageResponse[];
  @ApiProperty({ type: String, nullable: true, example: null }) next!: string | null;
}
