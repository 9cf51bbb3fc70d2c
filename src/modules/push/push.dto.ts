import { ApiProperty } from '@nestjs/swagger';
import { MaxLength } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/errors.js';
import { Flag, HttpUrl, Line, Nested, Optional, Text, Uuid } from '../../platform/http/input.decorators.js';
import { PageEnvelope } from '../../platform/paging/page.dto.js';

export const MAX_ENDPOINT = 1_000;
const MAX_KEY = 100;
const MAX_DESCRIPTION = 200;

/** `keys` of the browser's `PushSubscription.toJSON()`: base64url. */
export class PushKeysInput {
  /** The public key of the device: an uncompressed point of P-256. */
  @Text(MAX_KEY, {
    example: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  })
  p256dh!: string;
  /** 16 bytes that the device shares. */
  @Text(MAX_KEY, { example: 'BTBZMqHH6r4Tts7J_aSIgg' }) auth!: string;
}

export class CreatePushSubscription {
  /** The address of the device at its push service: https, a public address. */
  @ApiProperty({
    maxLength: MAX_ENDPOINT,
    format: 'uri',
    example: 'https://push.example/send/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV',
  })
  @MaxLength(MAX_ENDPOINT)
  @HttpUrl()
  endpoint!: string;

  @Nested(PushKeysInput) keys!: PushKeysInput;

  /** `id` of `GET /notifications/push-key` with which the device has subscribed. Default: the current key. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) key_id?: string;

  /**
   * Whether the device gets `dismissed`, a message that closes a notification and shows none. Safari ends a subscription after three messages
   * that show nothing. Default: false for endpoints of Apple, else true.
   */
  @Optional() @Flag({ example: true }) can_dismiss?: boolean;

  /** A name for lists. */
  @Optional() @Line(MAX_DESCRIPTION, { example: 'Firefox on the laptop' }) description?: string;
}

const STATUS = { type: 'integer', minimum: 100, maximum: 999, example: 201 } as const;

/** A device that gets push messages, without its keys. */
export class PushSubscriptionResponse {
  @ApiProperty(UUID) id!: string;
  /** The address of the device at its push service. @example "https://push.example/send/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV" */
  endpoint!: string;
  /** The key of the service with which the device has subscribed. */
  @ApiProperty(UUID) key_id!: string;
  /** Whether the device gets `dismissed`: messages that close a notification and show none. @example true */
  can_dismiss!: boolean;
  /** @example "Firefox on the laptop" */ description!: string;
  /** Whether it belongs to the session of this request. @example true */
  is_current!: boolean;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** The last message. */
  @ApiProperty(NO_DATE_TIME) attempted_at!: string | null;
  /** HTTP status of the response to it; null: there was none. */
  @ApiProperty(STATUS) status_code!: number | null;
  /** Why there was no response. */
  @ApiProperty({ example: null }) error!: string | null;
}

export class PushSubscriptionEnvelope {
  push_subscription!: PushSubscriptionResponse;
}

export class PushSubscriptionListEnvelope extends PageEnvelope {
  push_subscriptions!: PushSubscriptionResponse[];
}

export class DeletedPushSubscription {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class PushKeyResponse {
  @ApiProperty(UUID) id!: string;
  /**
   * `applicationServerKey` of `PushManager.subscribe()`: base64url of an uncompressed point of P-256.
   * @example "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
   */
  public_key!: string;
}

export class PushKeyEnvelope {
  push_key!: PushKeyResponse;
}

export class PushTestEnvelope {
  /** Whether the push service has accepted the message. @example true */
  accepted!: boolean;
  /** HTTP status of the response; null: there was none. */
  @ApiProperty(STATUS) status_code!: number | null;
  /** Why there was no response. */
  @ApiProperty({ example: null }) error!: string | null;
  /** The push service no longer knows the device (404, 410), so the subscription was deleted. @example false */
  deleted!: boolean;
}

export const PushErrors = {
  notFound: defineError(404, 'not_found', 'You have no such push subscription.'),
} as const;
