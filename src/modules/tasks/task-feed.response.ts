import { ApiExtraModels, ApiProperty, getSchemaPath, OmitType } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../platform/sync/feed.response.js';
import { TaskFolderResponse } from './task-folder.response.js';
import { TaskResponse } from './task.response.js';

/** A task without its description. */
export class TaskSummaryResponse extends OmitType(TaskResponse, ['description'] as const) {}

/** A task, with its description where it was asked for. */
export class TaskFeedItemResponse extends TaskSummaryResponse {
  @ApiProperty({ type: String, nullable: true, required: false, example: null, description: 'HTML.' })
  description?: string | null;
}

@ApiExtraModels(TaskFeedItemResponse, FeedRemoval)
export class TaskChangesEnvelope extends FeedMeta {
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(TaskFeedItemResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
    description: 'Tasks as they are now, each once, and removals, in the order of their last change.',
  })
  tasks!: (TaskFeedItemResponse | FeedRemoval)[];
}

export class TaskIndexEnvelope extends IndexMeta {
  @ApiProperty({ type: [TaskFeedItemResponse] }) tasks!: TaskFeedItemResponse[];
}

const FOLDERS = {
  type: 'array' as const,
  items: { anyOf: [{ $ref: getSchemaPath(TaskFolderResponse) }, { $ref: getSchemaPath(FeedRemoval) }] },
  example: [],
};

@ApiExtraModels(TaskFolderResponse, FeedRemoval)
export class TaskFolderChangesEnvelope extends FeedMeta {
  @ApiProperty({ ...FOLDERS, description: 'Folders as they are now, each once, and removals.' })
  folders!: (TaskFolderResponse | FeedRemoval)[];
  @ApiProperty({ ...FOLDERS, description: 'The same.' })
  task_folders!: (TaskFolderResponse | FeedRemoval)[];
}

export class TaskFolderIndexEnvelope extends IndexMeta {
  @ApiProperty({ type: [TaskFolderResponse] }) folders!: TaskFolderResponse[];
  @ApiProperty({ type: [TaskFolderResponse], description: 'The same.' }) task_folders!: TaskFolderResponse[];
}
