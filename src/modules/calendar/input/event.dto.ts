import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType } from '@nestjs/swagger';
import { Allow, IsObject, IsOptional, Matches } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import { Nullable, OneOf, Optional, Text } from '../../../platform/http/input.decorators.js';
import { ClientId } from '../../../platform/resources/folder.dto.js';
import {
  EventFields,
  IsEventTime,
  OptionalId,
  type Scope,
  SCOPES,
  SEND_UPDATES,
  type SendUpdates,
  timeSchema,
} from './event-fields.dto.js';
import type { TimeInput } from './event-input-times.js';

/** One change of a client, in a batch or a synchronisation. The single request validates `base_revision` and `event`. */
export class ClientChangeFields {
  /**
   * Returned with the result. In a synchronisation also the uid of a new event without one, so that a repeated request creates no
   * second event.
   */
  @Optional() @Text(200, { minLength: 1, example: 'local-1' }) client_id?: string;
  /** The event to update or delete. For a creation in a batch: the id of the new event. */
  @Optional() @Text(100, { minLength: 1, example: '01890a5d-ac96-774b-bcce-b302099a8057' }) event_id?: string;
  /** The revision that the client changed. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 }) @Allow() base_revision?: number;

  /** The fields of the single request; in a synchronisation also `scope` and `recurrence_id`. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { title: 'Planning', start: '2026-03-02' },
  })
  @Optional()
  @IsObject()
  event?: object;
}

const KEY = timeSchema({ date_time: '2026-03-09T09:00:00', time_zone: 'Europe/Berlin' });

/** Which attendees outside the workspace get mail. */
export class SendUpdatesField {
  /**
   * none: no mail. external, all: mail to the attendees outside the workspace, from the mailbox of the organizer. Default: all.
   * A change of `color`, `categories` and `show_as` alone sends no mail.
   * `scheduling/messages` shows the delivery.
   */
  @Optional() @OneOf(SEND_UPDATES, { example: 'all' }) send_updates?: SendUpdates;
}

export class CreateEvent extends IntersectionType(
  OmitType(EventFields, ['start'] as const),
  ClientId,
  SendUpdatesField,
) {
  @ApiProperty(timeSchema({ date_time: '2026-03-02T09:00:00', time_zone: 'Europe/Berlin' }))
  @IsEventTime()
  start!: TimeInput;

  /** The UID of iCalendar; default: the id. */
  @Optional()
  @Matches(/^[^\p{Cc}]+$/u, { message: 'uid must not contain control characters' })
  @Text(500, { minLength: 1, example: 'planning-2026@example.com' })
  uid?: string;
}

/** Which instances of a series a change concerns. */
export class ScopeFields {
  /**
   * Default: `this` if an instance is named, else `all`. With `this`, `attendees` are the attendees of the instance, and changes of
   * `recurrence`, `rrule`, `proposals_allowed` and `calendar_id` are rejected with the code `whole_event_only`.
   */
  @Optional() @OneOf(SCOPES, { example: 'this' }) scope?: Scope;
  /** The nominal start of the instance; null: the whole event. Or use the id of the instance in the path. */
  @ApiPropertyOptional(KEY) @Nullable() @IsEventTime() recurrence_id?: TimeInput | null;
}

export class CommentField {
  /** A text for the messages to attendees. */
  @Optional() @Text(4000, { example: 'See you there' }) comment?: string;
}

export class UpdateEvent extends IntersectionType(EventFields, ScopeFields, SendUpdatesField, BaseRevision) {
  /** Moves the event to this calendar. */
  @OptionalId() calendar_id?: string;
}

/** `scope` and `recurrence_id` of {@link ScopeFields} as query parameters: some programs and proxies send no body with DELETE (RFC 9110, 9.3.5). */
export class DeletedPart {
  /** As in the body, which counts where it states one. */
  @ApiPropertyOptional({ enum: SCOPES, example: 'this' }) @IsOptional() @OneOf(SCOPES) scope?: Scope;
  /** The nominal start of the instance, as in the body. */
  @ApiPropertyOptional({ type: String, example: '2026-03-09T09:00:00' })
  @IsOptional()
  @IsEventTime()
  recurrence_id?: string;
}

export class DeleteEvent extends IntersectionType(
  ScopeFields,
  SendUpdatesField,
  CommentField,
  BaseRevision,
) {}
