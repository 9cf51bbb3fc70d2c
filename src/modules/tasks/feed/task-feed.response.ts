import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta, FeedRemoval, IndexMeta } from '../../../platform/sync/feed.response.js';
import { TaskSummaryResponse } from '../task.response.js';

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
