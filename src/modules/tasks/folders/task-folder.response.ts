import { ApiProperty } from '@nestjs/swagger';
import { NEXT, TaskPersonResponse } from '../task.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class TaskFolderMemberResponse extends TaskPersonResponse {
  @ApiProperty({ format: 'uuid', example: ID }) user_id!: string;
  @ApiProperty({ enum: ['editor', 'viewer'], example: 'editor' }) role!: 'editor' | 'viewer';
  @ApiProperty({ example: false, description: 'Sees it as a member of a folder above it only.' })
  inherited!: boolean;
}

/** A task folder as the caller sees it. */
export class TaskFolderResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Offsite' }) name!: string;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'Null at the top, and where you do not see the folder above.',
  })
  parent_id!: string | null;
  @ApiProperty({ example: 1 }) position!: number;
  @ApiProperty({ type: String, nullable: true, example: '#2f80ed' }) color!: string | null;
  @ApiProperty({ type: 'integer', example: 12, description: 'Tasks in it, without those in the trash.' })
  task_count!: number;
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' }) role!:
    | 'owner'
    | 'editor'
    | 'viewer';
  @ApiProperty({ type: TaskPersonResponse }) owner!: TaskPersonResponse;
  @ApiProperty({ type: [TaskFolderMemberResponse] }) members!: TaskFolderMemberResponse[];
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class TaskFolderEnvelope {
  @ApiProperty({ type: TaskFolderResponse }) folder!: TaskFolderResponse;
  @ApiProperty({ type: TaskFolderResponse, description: 'The same.' }) task_folder!: TaskFolderResponse;
}

export class DeletedTaskFolderEnvelope extends TaskFolderEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class TaskFolderListEnvelope {
  @ApiProperty({ type: [TaskFolderResponse] }) folders!: TaskFolderResponse[];
  @ApiProperty({ type: [TaskFolderResponse], description: 'The same.' }) task_folders!: TaskFolderResponse[];
  @ApiProperty(NEXT) next!: string | null;
}
