import { ApiProperty } from '@nestjs/swagger';
import { NoteSummaryResponse } from '../note.response.js';

export class NoteHighlightsResponse {
  @ApiProperty({
    example: 'Team <mark>offsite</mark>',
    description: 'The title: escaped text with `<mark>`.',
  })
  title!: string;
  @ApiProperty({
    example: 'Travel, rooms and budget of the <mark>offsite</mark>',
    description:
      'Part of the content: escaped text with `<mark>`. Its beginning when only the title matches.',
  })
  content!: string;
}

/** A note that was found, without its content. */
export class NoteSearchHitResponse extends NoteSummaryResponse {
  @ApiProperty({
    type: 'number',
    minimum: 0,
    example: 0.6079,
    description: 'Higher is better; words of the title count most.',
  })
  score!: number;
  @ApiProperty({ type: NoteHighlightsResponse }) highlights!: NoteHighlightsResponse;
}

export class NoteSearchEnvelope {
  @ApiProperty({ type: [NoteSearchHitResponse] }) notes!: NoteSearchHitResponse[];
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 1000,
    example: 1,
    description:
      'How many notes match. At 1,000 there may be more: the most recently changed ones are ranked.',
  })
  total!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
  @ApiProperty({ example: 'offsite', description: 'What was asked for.' }) query!: string;
}
