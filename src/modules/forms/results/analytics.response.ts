import { ApiProperty } from '@nestjs/swagger';
import { FormQuestionSummary } from './form-summary.response.js';

export class FormTotals {
  /** Reads of the published form by respondents, in the hours that overlap the period. */
  @ApiProperty({ type: 'integer', example: 56 }) views!: number;
  /** Starts that clients report with `POST /forms/{id}/start`, in the same hours; at least `submitted`. */
  @ApiProperty({ type: 'integer', example: 48 }) started!: number;
  @ApiProperty({ type: 'integer', example: 42 }) submitted!: number;
  /** Responses by view, from 0 to 1; null without views. */
  @ApiProperty({ type: 'number', nullable: true, minimum: 0, maximum: 1, example: 0.75 })
  completion_rate!: number | null;
  /** Median duration of the responses with a `started_at`; null without any. */
  @ApiProperty({ type: 'number', nullable: true, example: 84 }) median_seconds!: number | null;
}

export class FormDay {
  @ApiProperty({ format: 'date', example: '2026-11-21' }) day!: string;
  @ApiProperty({ type: 'integer', example: 7 }) count!: number;
}

export class FormAnalyticsEnvelope {
  totals!: FormTotals;
  /** Days with responses, in the time zone of the request. */
  by_day!: FormDay[];
  questions!: FormQuestionSummary[];
}
