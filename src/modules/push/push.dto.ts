import { ApiProperty } from '@nestjs/swagger';
import { MaxLength } from 'class-validator';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { Flag, HttpUrl, Line, Nested, Optional, Text, Uuid } from '../../platform/http/input.decorators.js';

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
