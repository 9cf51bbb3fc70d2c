import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IntegerFrom, Text, Uuid, WholeNumber } from '../../../platform/http/input.decorators.js';

export class SuggestTitles {
  /** Beginning of a word of the title. */
  @IsOptional() @Text(200, { example: 'plan' }) q?: string;
  /** Only titles of events of this calendar. */
  @IsOptional() @Uuid() calendar_id?: string;
  /** Maximum number of suggestions. */
  @IsOptional() @WholeNumber() @IntegerFrom(1, 50, { required: false }) limit: number = 10;
}

/** A title that you have used, with the values of its latest event. */
export class TitleSuggestionResponse {
  /** @example "Planning" */ title!: string;
  /** Your events with this title. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 3 }) count!: number;
  @ApiProperty({ format: 'date-time', example: '2026-03-02T08:00:00.000Z' }) last_used_at!: string;
  @ApiProperty({ type: 'integer', minimum: 0, example: 60 }) duration_minutes!: number;
  /** @example "Room 1" */ location!: string;
  /** Addresses. @example ["ann@example.com"] */ attendees!: string[];
  @ApiProperty({ example: null }) color!: string | null;
  @ApiProperty({ example: null }) category!: string | null;
}

export class TitleSuggestionsEnvelope {
  suggestions!: TitleSuggestionResponse[];
}
