import { ApiProperty } from '@nestjs/swagger';
import { FormQuestionSummary } from './form-summary.response.js';

export class FormTotals {
  @ApiProperty({ type: 'integer', example: 42 })
  submitted!: number;
  /** Median duration of the responses with a `started_at`; null without any. */
  @ApiProperty({ type: 'number', nullable: true, example: 84 })
  median_seconds!: number | null;
}

export class FormDay {
  @ApiProperty({ format: 'date', example: '2026-11-21' })
  day!: string;
  @ApiProperty({ type: 'integer', example: 7 })
  count!: number;
}

export class FormAnalyticsEnvelope {
  totals!: FormTotals;
  /** Days with responses, in the time zone of the request. */
  by_day!: FormDay[];
  questions!: FormQuestionSummary[];
}
