import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsArray,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Max,
  Min,
} from 'class-validator';
import { Repeatable, WholeNumber } from '../../../platform/http/input.decorators.js';
import { RELATED_KINDS, type RelatedKind } from '../../../platform/references/related-items.js';
import { QueryTime } from '../input/event-parts.dto.js';

/** One of `event_id`, `q`, `email`, or `start` and `end`; several narrow nothing, they add items. */
export class RelatedQueryFields {
  /** Items about the subject and the attendees of this event, and what it links to. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('all', { message: 'event_id must be a UUID' })
  event_id?: string;

  /** Items with these words. */
  @ApiPropertyOptional({ example: 'planning' })
  @IsOptional()
  @Length(1, 200)
  @IsString()
  q?: string;

  /** Items of the user with this address. */
  @ApiPropertyOptional({ example: 'ann@demo.example' })
  @IsOptional()
  @IsEmail({ require_tld: false }, { message: 'email must be an e-mail address' })
  email?: string;

  /** With `end`: your events in this window, at most 31 days. */
  @QueryTime('2026-03-02T09:00:00Z')
  start?: string;

  /** With `start`: the end of the window, itself excluded. */
  @QueryTime('2026-03-02T10:00:00Z')
  end?: string;

  /** Default: all. */
  @ApiPropertyOptional({ enum: RELATED_KINDS, isArray: true })
  @IsOptional()
  @Repeatable()
  @IsIn(RELATED_KINDS, { each: true })
  @IsArray()
  types?: RelatedKind[];

  /** Maximum number of items of each type. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 20, default: 5 })
  @IsOptional()
  @WholeNumber()
  @Max(20)
  @Min(1)
  @IsInt()
  limit: number = 5;
}
