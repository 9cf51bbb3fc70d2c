import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { FileUsageResponse } from '../../../platform/blobs/file-usage.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';

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
