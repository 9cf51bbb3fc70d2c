import { ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsString, MaxLength, ValidateBy } from 'class-validator';
import { Optional } from '../../../platform/http/input.decorators.js';
import { ResponseFilter } from '../input/response-filter.dto.js';
import { isTimeZone } from '../../../lib/recurrence/index.js';

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
