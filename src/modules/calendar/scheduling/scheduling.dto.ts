import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsDateString,
  IsEmail,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { mailAddress } from '../../../lib/text/index.js';
import { ITIP_METHODS, type ItipMethod } from '../../../lib/itip/index.js';
import {
  PastedAddress,
  EachAs,
  IntegerFrom,
  OneOf,
  Optional,
  Text,
  Uuid,
  Nested,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { IsEventTime, timeSchema } from '../input/event-parts.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { type Direction, DIRECTIONS, RESULTS, type SchedulingResult } from './scheduling.entity.js';

export const MAX_ICS = 1_048_576;
const MAX_RECIPIENTS = 100;
const ICS = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\n…';

/** A message to send again, or by hand. */
export class SendSchedulingMessage {
  /** Organizers send REQUEST, CANCEL, ADD, DECLINECOUNTER and PUBLISH, attendees REPLY, COUNTER and REFRESH. */
  @OneOf(ITIP_METHODS, { example: 'REQUEST' }) method!: ItipMethod;
  /** An event of this calendar. */
  @Uuid({ example: EXAMPLE_ID }) event_id!: string;

  /** The instance that the message concerns; default: the whole event. */
  @ApiPropertyOptional(timeSchema({ date_time: '2026-03-09T09:00:00', time_zone: 'Europe/Berlin' }))
  @Optional()
  @IsEventTime()
  recurrence_id?: TimeInput;

  /** Default: all attendees outside of the workspace, or the organizer. PUBLISH needs recipients, which may be any addresses. */
  @ApiPropertyOptional({ type: [String], maxItems: MAX_RECIPIENTS, example: ['zoe@partner.example'] })
  @Optional()
  @MaxLength(320, { each: true })
  @EachAs((entry) => (typeof entry === 'string' ? mailAddress(entry) : entry), MAX_RECIPIENTS)
  @IsEmail({ require_tld: false }, { each: true, message: 'recipients must be e-mail addresses' })
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_RECIPIENTS)
  @IsArray()
  recipients?: string[];

  @Optional() @Text(4000, { example: 'See you there' }) comment?: string;
}

/** A message of the caller's mailbox. */
export class MailReference {
  @ApiProperty({ example: '6b0108e57d46ea6fe43d660f' })
  @Matches(/^[0-9a-f]{24}$/i, { message: 'mailbox must be the id of a mailbox' })
  @IsString()
  mailbox!: string;

  @IntegerFrom(1, { example: 12 }) id!: number;
}

/** A received message: `ics`, or the mail that contains it. */
export class TakeMessage {
  /** A calendar with METHOD, at most 1 MiB. Without `message`, it changes your own placement only. */
  @Optional() @Text(MAX_ICS, { example: ICS }) ics?: string;

  /** The claimed sender. It must be the organizer. */
  @ApiPropertyOptional({ example: 'ann@partner.example' })
  @Optional()
  @MaxLength(320)
  @IsEmail({ require_tld: false })
  @PastedAddress()
  from?: string;

  /**
   * A mail of your mailbox. Its sender is the sender of the message, and its calendar is used instead of `ics`. A mail without a
   * verified sender does not change an event that is in calendars of other members too.
   */
  @Optional() @Nested(MailReference) message?: MailReference;
}

export class ListSchedulingMessages extends PageQuery {
  /** in: received. out: sent. */
  @Optional() @OneOf(DIRECTIONS) direction?: Direction;
  /** The method of RFC 5546. */
  @Optional() @OneOf(ITIP_METHODS) method?: ItipMethod;
  /** The state of the delivery, or the effect of a received message. */
  @Optional() @OneOf(RESULTS) result?: SchedulingResult;
  /** The UID of the event. */
  @Optional() @Text(500, { minLength: 1, example: EXAMPLE_ID }) uid?: string;

  /** Messages from this time on. */
  @ApiPropertyOptional({ format: 'date-time', example: '2026-03-01T00:00:00Z' })
  @Optional()
  @Matches(/^\d{4}-\d\d-\d\dT/, { message: 'since must be a time of RFC 3339' })
  @IsDateString({ strict: true, strictSeparator: true })
  since?: string;
}
