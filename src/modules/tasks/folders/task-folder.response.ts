import { ApiProperty } from '@nestjs/swagger';
import { SyncedFields } from '../../../platform/resources/item.response.js';
import { TaskPersonResponse } from '../task.response.js';

export class TaskFolderMemberResponse extends TaskPersonResponse {
  /** @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  @ApiProperty({ format: 'uuid' }) user_id!: string;
  @ApiProperty({ enum: ['editor', 'viewer'], example: 'editor' }) role!: 'editor' | 'viewer';
  /** The user sees the folder as a member of a folder above it. @example false */ inherited!: boolean;
}

/** A task folder as the caller sees it. */
export class TaskFolderResponse extends SyncedFields {
  /** @example "Offsite" */ name!: string;
  /** Null at the top level, and where you do not see the folder above. */
  @ApiProperty({ format: 'uuid', example: null }) parent_id!: string | null;
  /** @example 1 */ position!: number;
  /** @example "#2f80ed" */ color!: string | null;
  /** Tasks in the folder, without the trash. */
  @ApiProperty({ type: 'integer', example: 12 }) task_count!: number;
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' })
  role!: 'owner' | 'editor' | 'viewer';
  owner!: TaskPersonResponse;
  members!: TaskFolderMemberResponse[];
}
