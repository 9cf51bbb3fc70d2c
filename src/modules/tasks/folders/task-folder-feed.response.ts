import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../../platform/sync/feed.response.js';
import { TaskFolderResponse } from './task-folder.response.js';

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
