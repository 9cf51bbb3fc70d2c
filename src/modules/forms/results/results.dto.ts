import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsString, MaxLength, ValidateBy } from 'class-validator';
import { QUESTION_TYPES } from '../../../lib/forms/index.js';
import { isTimeZone } from '../../../lib/recurrence/index.js';
import { Optional } from '../../../platform/http/input.decorators.js';
import { ResponseFilter } from '../input/form.dto.js';

export class ExportResponses extends ResponseFilter {
  /** Time zone (IANA) of the times and days. Default: UTC. */
  @ApiPropertyOptional({ maxLength: 64, example: 'Europe/Berlin' })
  @Optional()
  @ValidateBy({
    name: 'isTimeZone',
    validator: { validate: isTimeZone, defaultMessage: () => 'tz must be a time zone such as Europe/Paris' },
  })
  tz?: string;

  /** Ids of the questions, separated by commas. Default: all. */
  @ApiPropertyOptional({ type: String, example: 'attending,diet' })
  @Optional()
  @MaxLength(64, { each: true })
  @ArrayMaxSize(300)
  @IsString({ each: true })
  @IsArray()
  @Transform(({ value }) => (typeof value === 'string' ? value.split(',') : value))
  columns?: string[];
}

export class AnalyseResponses extends OmitType(ExportResponses, ['columns']) {}

export class FormOptionCount {
  @ApiProperty({ example: 'yes' }) id!: string;
  @ApiProperty({ example: 'Yes' }) label!: string;
  @ApiProperty({ type: 'integer', example: 30 }) count!: number;
  /** Of the answers to the question. */
  @ApiProperty({ example: 71.43 }) percent!: number;
}

export class FormRowCounts {
  @ApiProperty({ example: 'workload' }) id!: string;
  @ApiProperty({ example: 'My workload is right' }) label!: string;
  options!: FormOptionCount[];
}

export class FormRank {
  @ApiProperty({ example: 'jupiter' }) id!: string;
  @ApiProperty({ example: 'Jupiter' }) label!: string;
  /** Answers that rank the option: answers to older versions do not have it. */
  @ApiProperty({ type: 'integer', example: 12 }) count!: number;
  @ApiProperty({ example: 1.25 }) mean_rank!: number;
}

export class FormStatistics {
  @ApiProperty({ example: 1 }) min!: number;
  @ApiProperty({ example: 5 }) max!: number;
  @ApiProperty({ example: 3.7 }) mean!: number;
  /** Exact for up to 10,000 distinct values, otherwise at most 0.5 % off. */
  @ApiProperty({ example: 4 }) median!: number;
  @ApiProperty({ example: 1.1 }) standard_deviation!: number;
}

export class FormNps {
  @ApiProperty({ type: 'integer', example: 20 }) promoters!: number;
  @ApiProperty({ type: 'integer', example: 12 }) passives!: number;
  @ApiProperty({ type: 'integer', example: 10 }) detractors!: number;
  /** From -100 to 100. */
  @ApiProperty({ example: 23.81 }) score!: number;
}

export class FormRange {
  @ApiProperty({ example: '2026-11-01' }) first!: string;
  @ApiProperty({ example: '2026-11-30' }) last!: string;
}

/** The members depend on the type of the question. */
export class FormQuestionSummary {
  @ApiProperty({ example: 'attending' }) id!: string;
  @ApiProperty({ example: 'Will you attend?' }) title!: string;
  @ApiProperty({ enum: QUESTION_TYPES, example: 'single_choice' }) type!: string;
  /** The current version does not have the question. */
  @ApiProperty({ example: false }) removed!: boolean;
  @ApiProperty({ type: 'integer', example: 42 }) answered!: number;
  /** Responses without an answer, to versions with the question. */
  @ApiProperty({ type: 'integer', example: 0 }) skipped!: number;
  options?: FormOptionCount[];
  rows?: FormRowCounts[];
  ranks?: FormRank[];
  statistics?: FormStatistics;
  nps?: FormNps;
  range?: FormRange;
  /** The last answers, newest first, at most 200 characters each. */
  @ApiPropertyOptional({ type: [String], example: ['No nuts'] }) samples?: string[];
}

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
