import { ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsString, MaxLength, Min, ValidateBy } from 'class-validator';
import { Optional, Timestamp, WholeNumber } from '../../../platform/http/input.decorators.js';
import { Moment } from '../form-settings.dto.js';
import { isTimeZone } from '../local-time.js';

export class ExportResponses {
  /** Submitted at this time or later. */
  @ApiPropertyOptional({ type: String, format: 'date-time', example: '2026-11-01T00:00:00Z' })
  @Optional()
  @Moment()
  @Timestamp()
  from?: Date;

  /** Submitted before this time. */
  @ApiPropertyOptional({ type: String, format: 'date-time', example: '2999-12-01T00:00:00Z' })
  @Optional()
  @Moment()
  @Timestamp()
  to?: Date;

  /** Responses to this version. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Optional()
  @Min(1)
  @IsInt()
  @WholeNumber()
  version?: number;

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

export class AnalyseResponses extends PickType(ExportResponses, ['from', 'to', 'version', 'tz']) {}
