import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateBy } from 'class-validator';
import { Transform } from 'class-transformer';
import { Flag, OneOf, Optional, Repeatable, Time, Timestamp } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { REQUESTED_STATES, type RequestedState } from './inbox/lifecycle.js';

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
