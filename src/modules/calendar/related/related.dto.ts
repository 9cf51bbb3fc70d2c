import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsEmail, IsOptional } from 'class-validator';
import {
  EachOf,
  IntegerFrom,
  PastedAddress,
  Text,
  Uuid,
  WholeNumber,
} from '../../../platform/http/input.decorators.js';
import { RELATED_KINDS, type RelatedKind } from '../../../platform/references/related-items.js';
import { QueryTime } from '../input/event-fields.dto.js';

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

const REASONS = ['link', 'title', 'attendee', 'time'] as const;

/** An item that you can read. */
export class RelatedItemResponse {
  /** For a message: `<mailbox>/<message>`, as in its path. @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  id!: string;
  /** @example "Budget" */ title!: string;
  /** link: the event links to it. title: it has words of the subject. attendee: it concerns an attendee. time: it takes place then. */
  @ApiProperty({ enum: REASONS, example: 'title' }) reason!: (typeof REASONS)[number];
  /** 0 to 1; higher is better. */
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.6 }) score!: number;
  /** For an event its start, for other items the last change. */
  @ApiProperty({ format: 'date-time', example: '2026-03-02T08:00:00Z' }) date!: string | null;
}

/** Items by type, best first. A type that was not requested, or without items, is empty. */
export class RelatedItemsResponse {
  events!: RelatedItemResponse[];
  notes!: RelatedItemResponse[];
  tasks!: RelatedItemResponse[];
  /** Among the newest messages of your inbox and your sent messages. */ messages!: RelatedItemResponse[];
  contacts!: RelatedItemResponse[];
  rooms!: RelatedItemResponse[];
}

export class RelatedEnvelope {
  related!: RelatedItemsResponse;
}
