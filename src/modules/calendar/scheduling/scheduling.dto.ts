import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsEmail, IsString, Matches, MaxLength } from 'class-validator';
import { ITIP_METHODS, type ItipMethod } from '../../../lib/itip/index.js';
import { mailAddress } from '../../../lib/text/index.js';
import { DATE_TIME, EXAMPLE_ID, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { defineError } from '../../../platform/http/errors.js';
import {
  EachAs,
  IntegerFrom,
  Nested,
  OneOf,
  Optional,
  PastedAddress,
  Text,
  Time,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { IsEventTime, timeSchema } from '../input/event-fields.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { CalendarEventResponse } from '../responses/event.response.js';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type Direction,
  DIRECTIONS,
  RESULTS,
  type SchedulingResult,
} from './scheduling.entity.js';

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
  @Optional() @Time({ example: '2026-03-01T00:00:00Z' }) since?: Date;
}

export class SchedulingRecipientResponse {
  /** @example "zoe@partner.example" */ email!: string;
  @ApiProperty({ enum: ['mail'], example: 'mail' }) channel!: 'mail';
  @ApiProperty({ enum: DELIVERY_STATUSES, example: 'sent' }) status!: DeliveryStatus;
  /** Why the last attempt failed, e.g. `no_mail`, `rejected`. */
  @ApiProperty({ example: null }) error!: string | null;
  @ApiProperty({ ...DATE_TIME }) sent_at!: string | null;
}

export class SchedulingAttendeeResponse {
  /** @example "zoe@partner.example" */ email!: string;
  /** @example "ACCEPTED" */ response!: string;
}

/** A summary of a message. */
export class ParsedMessageResponse {
  /** @example "Planning" */ title!: string;
  /** As the message writes it. @example "20260302T090000 Europe/Berlin" */ start!: string | null;
  /** @example "ann@demo.example" */ organizer!: string | null;
  @ApiProperty({ type: [SchedulingAttendeeResponse] }) attendees!: SchedulingAttendeeResponse[];
  /** @example "" */ comment!: string;
  /** Number of VEVENTs. */
  @ApiProperty({ type: 'integer', example: 1 }) components!: number;
}

export class SchedulingMessageResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: DIRECTIONS, example: 'out' }) direction!: Direction;
  /** Null: the message was unreadable. */
  @ApiProperty({ enum: [...ITIP_METHODS, null], type: String, nullable: true, example: 'REQUEST' })
  method!: ItipMethod | null;
  /** @example "01890a5d-ac96-774b-bcce-b302099a8057" */ uid!: string;
  @ApiProperty(UUID) event_id!: string | null;
  /** The nominal start of the instance, in the zone of the series; null: the whole event. */
  @ApiProperty({ example: null }) recurrence_id!: string | null;
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) sequence!: number;
  @ApiProperty({ ...DATE_TIME }) dtstamp!: string | null;
  /** The sender; empty for an upload. @example "ann@demo.example" */ from!: string;
  /** The recipients of a sent message. */
  @ApiProperty({ type: [SchedulingRecipientResponse] }) recipients!: SchedulingRecipientResponse[];
  /** Sent messages: queued, sent or failed. Received ones: the effect. */
  @ApiProperty({ enum: RESULTS, example: 'sent' }) result!: SchedulingResult;
  /**
   * Why a message was ignored, rejected or not delivered, e.g. `sender_mismatch`, `sender_not_authenticated` (the
   * receiving mail server could verify the domain neither by SPF nor by DKIM; the user can apply the mail with `scheduling/inbox`),
   * `tnef_unsupported`, `no_mail`.
   */
  @ApiProperty({ example: null }) reason!: string | null;
  @ApiProperty(orNull(ParsedMessageResponse)) parsed!: ParsedMessageResponse | null;
  @ApiProperty(DATE_TIME) created_at!: string;
}

export class FullSchedulingMessageResponse extends SchedulingMessageResponse {
  /** The message as iCalendar; null for an unreadable or long one. */
  @ApiProperty({ example: null }) ics!: string | null;
}

export class SchedulingMessageListEnvelope extends PageEnvelope {
  @ApiProperty({ type: [SchedulingMessageResponse] }) messages!: SchedulingMessageResponse[];
}

export class SchedulingMessageEnvelope {
  message!: FullSchedulingMessageResponse;
}

export class SentMessageEnvelope {
  message!: SchedulingMessageResponse;
}

class EventOrNull {
  /** The event after the message. */
  @ApiProperty(orNull(CalendarEventResponse)) event!: CalendarEventResponse | null;
}

export class ReceivedMessageEnvelope extends IntersectionType(SentMessageEnvelope, EventOrNull) {}

export const SchedulingErrors = {
  messageNotFound: defineError(404, 'not_found', 'The calendar has no such scheduling message.'),
  notYourMethod: defineError(403, 'method_not_allowed', 'You cannot send this method for this event.'),
  notApplicable: defineError(
    409,
    'method_not_applicable',
    'The event is not in the state that this method reports: CANCEL needs a cancelled event or instance, DECLINECOUNTER a proposal of each recipient. Added dates are sent by REQUEST.',
  ),
  senderMismatch: defineError(
    403,
    'sender_mismatch',
    'The sender is not the organizer or attendee that the message names, or no mail proves it.',
  ),
  invalidIcs: defineError(422, 'invalid_ics', 'The text is not a scheduling message with an event.'),
  unknownMethod: defineError(422, 'unknown_method', 'The METHOD is missing or unknown.'),
  multipleUids: defineError(422, 'multiple_uids', 'A message concerns one event.'),
  unknownRecipient: defineError(
    422,
    'unknown_recipient',
    'A recipient is not an attendee outside of the workspace, or there is no recipient.',
  ),
  noMail: defineError(503, 'no_mail', 'This installation has no mail service, or you have no mail account.'),
} as const;
