import { ApiProperty } from '@nestjs/swagger';
import { SyncedFields } from '../../platform/resources/item.response.js';

export class NoteFolderResponse extends SyncedFields {
  /** @example "Projects" */ name!: string;
  /** Null at the top level. */
  @ApiProperty({ format: 'uuid', example: null }) parent_id!: string | null;
  /** @example 1 */ position!: number;
  /** @example "#2f80ed" */ color!: string | null;
  /** Notes in the folder, without the trash. Filing a note does not add its folder to the change feed. */
  @ApiProperty({ type: 'integer', example: 12 }) note_count!: number;
}
