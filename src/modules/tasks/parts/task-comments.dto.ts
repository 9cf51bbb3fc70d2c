import { ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { Optional, Visible } from '../../../platform/http/input.decorators.js';
import { UpdateTask } from '../tasks.dto.js';

const MAX_BODY = 10_000;

/** The text of a comment, in one of three fields. */
export class WriteComment extends PickType(UpdateTask, ['device_id'] as const) {
  /** Plain text. Use one of `body`, `text` and `content`. */
  @ApiPropertyOptional({ minLength: 1, example: 'They have rooms until Friday.' })
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  body?: string;

  /** The same as `body`. @example "They have rooms until Friday." */
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  text?: string;

  /** The same as `body`. @example "They have rooms until Friday." */
  @Optional()
  @MaxLength(MAX_BODY)
  @Visible()
  @IsString()
  content?: string;
}
