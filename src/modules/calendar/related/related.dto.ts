import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsOptional } from 'class-validator';
import {
  PastedAddress,
  IntegerFrom,
  Text,
  Uuid,
  WholeNumber,
  EachOf,
} from '../../../platform/http/input.decorators.js';
import { RELATED_KINDS, type RelatedKind } from '../../../platform/references/related-items.js';
import { QueryTime } from '../input/event-parts.dto.js';

/** At least one of `event_id`, `q`, `email`, or `start` and `end`. Each adds items; they do not narrow the result. */
export class RelatedQueryFields {
  /** Items about the subject and the attendees of this event, and items that it links to. */
  @IsOptional() @Uuid() event_id?: string;
  /** Items with these words. */
  @IsOptional() @Text(200, { minLength: 1, example: 'planning' }) q?: string;

  /** Items of the user with this address. */
  @ApiPropertyOptional({ example: 'ann@demo.example' })
  @IsOptional()
  @IsEmail({ require_tld: false }, { message: 'email must be an e-mail address' })
  @PastedAddress()
  email?: string;

  /** With `end`: your events in this window, at most 31 days. */
  @QueryTime('2026-03-02T09:00:00Z') start?: string;
  /** With `start`: the end of the window, exclusive. */
  @QueryTime('2026-03-02T10:00:00Z') end?: string;

  /** Default: all. */
  @EachOf(RELATED_KINDS) types?: RelatedKind[];

  /** Maximum number of items of each type. */
  @IsOptional() @WholeNumber() @IntegerFrom(1, 20, { required: false }) limit: number = 5;
}
