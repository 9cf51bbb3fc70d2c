import { ApiProperty, PickType } from '@nestjs/swagger';
import { PageEnvelope } from '../../../../platform/paging/page.dto.js';
import { QueryText } from '../../../../platform/search/query-text.js';
import { TaskSummaryResponse } from '../../tasks.dto.js';
import { ListTasks } from '../task-list.dto.js';

export class SearchTasks extends PickType(ListTasks, [
  'limit',
  'cursor',
  'folder_id',
  'status',
  'state',
] as const) {
  @QueryText({
    example: 'rooms',
    description:
      'Words in any language; a task must have all of them (at most 12), in its title, labels or description. Case and accents do not matter; a word of three letters or more also finds those it begins.',
  })
  q!: string;
}

export class TaskHighlightsResponse {
  /** The title: escaped text with `<mark>`. @example "Book the <mark>rooms</mark>" */ title!: string;
  /**
   * Part of the description: escaped text with `<mark>`. Its beginning when only the title matches.
   * @example "Two nights, six <mark>rooms</mark>"
   */
  description!: string;
}

/** A task that was found, without its description. */
export class TaskSearchHitResponse extends TaskSummaryResponse {
  /** Higher is better; words of the title count most. */
  @ApiProperty({ minimum: 0, example: 0.6079 }) score!: number;
  highlights!: TaskHighlightsResponse;
}

export class TaskSearchEnvelope extends PageEnvelope {
  tasks!: TaskSearchHitResponse[];
  /** Number of tasks that match. At 1,000 there may be more: the most recently changed tasks are ranked. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 1000, example: 1 }) total!: number;
  /** The query of the request. @example "rooms" */ query!: string;
}
