import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/input.decorators.js';
import { NotBlank } from '../task-fields.dto.js';

const MAX_BODY = 10_000;

/** The text of a comment, under any of three names. */
export class WriteComment {
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: MAX_BODY,
    example: 'They have rooms until Friday.',
    description: 'Plain text. This or `text` or `content`.',
  })
  @MayBeAbsent()
  @MaxLength(MAX_BODY)
  @NotBlank()
  @IsString()
  body?: string;

  @ApiPropertyOptional({
    maxLength: MAX_BODY,
    example: 'They have rooms until Friday.',
    description: 'The same as `body`.',
  })
  @MayBeAbsent()
  @MaxLength(MAX_BODY)
  @NotBlank()
  @IsString()
  text?: string;

  @ApiPropertyOptional({
    maxLength: MAX_BODY,
    example: 'They have rooms until Friday.',
    description: 'The same as `body`.',
  })
  @MayBeAbsent()
  @MaxLength(MAX_BODY)
  @NotBlank()
  @IsString()
  content?: string;
}
