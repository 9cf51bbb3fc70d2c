import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../platform/field-docs/field-docs.js';
import { NOTIFICATION_STATES, type NotificationState } from './notification.entity.js';

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
