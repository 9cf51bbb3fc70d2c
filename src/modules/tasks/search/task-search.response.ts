import { ApiProperty } from '@nestjs/swagger';
import { NEXT, TaskSummaryResponse } from '../task.response.js';

export class TaskHighlightsResponse {
  @ApiProperty({
    example: 'Book the <mark>rooms</mark>',
    description: 'The title: escaped text with `<mark>`.',
  })
  title!: string;
  @ApiProperty({
    example: 'Two nights, six <mark>rooms</mark>',
    description: 'Part of the description, likewise. Its beginning when only the title matches.',
  })
  description!: string;
}

/** A task that was found, without its description. */
export class TaskSearchHitResponse extends TaskSummaryResponse {
  @ApiProperty({
    type: 'number',
    minimum: 0,
    example: 0.6079,
    description: 'Higher is better; words of the title count most.',
  })
  score!: number;
  @ApiProperty({ type: TaskHighlightsResponse }) highlights!: TaskHighlightsResponse;
}

export class TaskSearchEnvelope {
  @ApiProperty({ type: [TaskSearchHitResponse] }) tasks!: TaskSearchHitResponse[];
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 1000,
    example: 1,
    description:
      'How many tasks match. At 1,000 there may be more: the most recently changed ones are ranked.',
  })
  total!: number;
  @ApiProperty(NEXT) next!: string | null;
  @ApiProperty({ example: 'rooms', description: 'What was asked for.' }) query!: string;
}
