import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { ITIP_METHODS, type ItipMethod } from '../../../lib/itip/index.js';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { CalendarEventResponse } from '../responses/event.response.js';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type Direction,
  DIRECTIONS,
  RESULTS,
  type SchedulingResult,
} from './scheduling.entity.js';

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
