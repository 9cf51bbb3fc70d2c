import { IntegerFrom, Nullable } from '../../../platform/http/input.decorators.js';
import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { FileUsageResponse } from '../../../platform/blobs/file-usage.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';

/** 1 PiB. */
const MAX_BYTES = 2 ** 50;

export class UpdateFileLimits {
  /** Limit of each user, bytes; null: the limit of the deployment; 0: no limit. Files above a new limit stay. */
  @Nullable() @IntegerFrom(0, MAX_BYTES, { example: 1_073_741_824 }) user_limit_bytes?: number | null;
}

export class FileUsageEnvelope {
  files!: FileUsageResponse;
}

export class UserFileUsageResponse {
  @ApiProperty(UUID) user_id!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 15_728_640 }) bytes!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 }) count!: number;
}

export class UserFileUsageListEnvelope extends PageEnvelope {
  users!: UserFileUsageResponse[];
}
