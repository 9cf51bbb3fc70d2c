import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, Matches, ValidateBy } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/errors.js';
import { Flag, OneOf, Optional, Repeatable, Time, Timestamp } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { REQUESTED_STATES, type RequestedState } from './inbox/lifecycle.js';
import { NOTIFICATION_STATES, type NotificationState } from './notifications.schema.js';

const LISTED_STATES = ['unread', 'read', 'archived', 'snoozed'] as const;
type ListedState = (typeof LISTED_STATES)[number];

const TYPE = /^[a-z][a-z_]{0,30}\.(?:[a-z_]{1,30}|\*)$/;
const TYPE_MESSAGE = 'type must be a type such as task.assigned, or a kind such as task.*';
const MAX_SEQ = Number.MAX_SAFE_INTEGER;

export class ListNotifications extends PageQuery {
  /** Repeatable. Default: unread and read. */
  @ApiPropertyOptional({ enum: LISTED_STATES, isArray: true, enumName: 'ListedNotificationState' })
  @Optional()
  @Repeatable()
  @IsIn(LISTED_STATES, { each: true, message: `state must be one of ${LISTED_STATES.join(', ')}` })
  state?: ListedState[];

  /** Repeatable: a type, or all types of a kind. */
  @ApiPropertyOptional({ isArray: true, type: String, example: ['task.*'] })
  @Optional()
  @Repeatable()
  @Matches(TYPE, { each: true, message: TYPE_MESSAGE })
  type?: string[];

  /** `true`: the same as `state=unread`. */
  @Optional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @Flag({ message: 'unread must be true or false', type: Boolean })
  unread?: boolean;
}

/** A `seq`, or a time. */
const IsPosition = () =>
  ValidateBy({
    name: 'position',
    validator: {
      validate: (value) =>
        (value instanceof Date && !Number.isNaN(value.getTime())) ||
        (Number.isInteger(value) && value >= 0 && value <= MAX_SEQ),
      defaultMessage: () => 'before must be the seq of a notification, or an RFC 3339 time',
    },
  });

export class ReadAll {
  /** Later notifications stay unread: the `seq` of the newest one that you have shown, or a time. */
  @ApiPropertyOptional({
    oneOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', format: 'date-time' },
    ],
    example: 42,
  })
  @Optional()
  @IsPosition()
  @Timestamp()
  before?: number | Date;

  /** Only this type, or the types of a kind. */
  @ApiPropertyOptional({ example: 'task.*' })
  @Optional()
  @Matches(TYPE, { message: TYPE_MESSAGE })
  type?: string;
}

export class MarkNotificationsRead {
  /** `false`: unread. */
  @Optional() @Flag({ message: 'read must be true or false', default: true, example: true }) read?: boolean;
}

const SNOOZE_MESSAGE = 'snooze_until must be an RFC 3339 time';

export class SetLifecycle {
  @OneOf(REQUESTED_STATES, {
    message: `state must be one of ${REQUESTED_STATES.join(', ')}`,
    enumName: 'RequestedNotificationState',
    example: 'snoozed',
  })
  state!: RequestedState;

  /** Required for `snoozed`, at most 90 days ahead. */
  @Optional() @Time({ message: SNOOZE_MESSAGE, example: '2026-11-23T08:00:00.000Z' }) snooze_until?: Date;
}

export class MoveSnooze {
  /** At most 90 days ahead. */
  @Time({ message: SNOOZE_MESSAGE, example: '2026-11-23T08:00:00.000Z' }) snooze_until!: Date;
}

export class NotificationActorResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ display_name!: string;
}

export class NotificationSubjectResponse {
  /** @example "task" */ kind!: string;
  @ApiProperty(UUID) id!: string;
  /** The current title. Null when you can no longer read the object. @example "Book the venue" */
  title!: string | null;
}

export class NotificationResponse {
  @ApiProperty(UUID) id!: string;
  /** Position in the list. Changes when a snooze ends, and with each further cause. @example 42 */
  @ApiProperty({ type: 'integer' }) seq!: number;
  /** @example "task.assigned" */ type!: string;
  /** The preference that switches notifications of this type on and off. @example "task.*" */
  preference!: string;
  /** One line of text in your language. @example "Alice Martin assigned “Book the venue” to you" */
  title!: string;
  /** The user who caused it; null for the system and for guests. @example {"id": "01890a5d-ac96-774b-bcce-b302099a8057", "display_name": "Alice Martin"} */
  actor!: NotificationActorResponse | null;
  /** The object that it is about; null for your account. @example {"kind": "task", "id": "01890a5d-ac96-774b-bcce-b302099a8057", "title": "Book the venue"} */
  subject!: NotificationSubjectResponse | null;
  /** Path of the object in a client. Null when you can no longer read it. @example "/tasks/01890a5d-ac96-774b-bcce-b302099a8057" */
  url_path!: string | null;
  /** Number of causes of the notification. @example 1 */
  @ApiProperty({ type: 'integer', minimum: 1 }) count!: number;
  /** Facts that depend on the type. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { comment_id: EXAMPLE_ID } })
  data!: Record<string, unknown>;
  @ApiProperty({ enum: NOTIFICATION_STATES, enumName: 'NotificationState', example: 'unread' })
  state!: NotificationState;
  @ApiProperty(DATE_TIME) seen_at!: string | null;
  @ApiProperty(DATE_TIME) read_at!: string | null;
  /** When a snoozed notification returns as unread. */
  @ApiProperty(DATE_TIME) snooze_until!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
}

export class UnreadCounts {
  /** @example 3 */
  @ApiProperty({ type: 'integer', minimum: 0 }) unread_count!: number;
  /** Unread notifications that you have not seen in a list. @example 1 */
  @ApiProperty({ type: 'integer', minimum: 0 }) unseen_count!: number;
}

export class NotificationEnvelope extends UnreadCounts {
  notification!: NotificationResponse;
}

export class NotificationListEnvelope extends UnreadCounts {
  notifications!: NotificationResponse[];
  /** The cursor of the next page; null on the last one. */
  @ApiProperty({ example: null }) next!: string | null;
}

export class AllReadEnvelope extends UnreadCounts {
  /** Number of notifications that were unread. @example 7 */
  @ApiProperty({ type: 'integer', minimum: 0 }) updated!: number;
}

export const NotificationErrors = {
  notFound: defineError(404, 'not_found', 'You have no such notification.'),
  invalidTransition: defineError(
    409,
    'invalid_transition',
    'The notification cannot change from its state into this one.',
  ),
} as const;
