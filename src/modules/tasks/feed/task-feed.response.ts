import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../../platform/sync/feed.dto.js';
import { TaskCommentResponse, TaskSummaryResponse } from '../tasks.dto.js';

/** A task; with `include=content` also its description and its newest comments. */
export class TaskFeedItemResponse extends TaskSummaryResponse {
  /** HTML. */
  @ApiProperty({ example: null }) description?: string | null;
  /** The newest 50, newest first; `comments_count` is the number of all. */
  comments?: TaskCommentResponse[];
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
