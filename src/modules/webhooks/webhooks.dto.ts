import { ApiProperty, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import {
  Distinct,
  Flag,
  HttpUrl,
  Line,
  Nested,
  OneOf,
  Optional,
  Time,
  Uuid,
} from '../../platform/http/input.decorators.js';
import { OnlyKnown } from '../../platform/http/body/only-known.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { ClientId } from '../../platform/resources/folder.dto.js';
import { DELIVERY_STATES, type DeliveryState, WEBHOOK_SCOPES, type WebhookScope } from './webhook.entity.js';

export const MAX_URL = 1_000;
export const MAX_DESCRIPTION = 500;
export const MAX_TYPES = 40;
export const MAX_TYPE = 32;

/**
 * Restricts the events to one object that you can read. Each attribute concerns the types of events that have it, and at least one of
 * `event_types`. Unknown attributes are errors.
 */
export class WebhookFilterInput {
  /** Only this form and its responses. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) form_id?: string;
  /** Only calls of this chat room. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) room_id?: string;
  /** Only events of this calendar. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) calendar_id?: string;
  /** Only tasks of this folder. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) folder_id?: string;
  /** Only contacts of this address book. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) addressbook_id?: string;
}

export class CreateWebhook extends ClientId {
  /**
   * `user`: events of objects that you can read. `tenant`: the same, and the webhook belongs to the workspace: its administrators see,
   * deactivate and delete it; needs the permission `webhooks.manage`.
   */
  @OneOf(WEBHOOK_SCOPES, { example: 'user' }) scope!: WebhookScope;

  /** Where events are sent: https, a public address. */
  @ApiProperty({ maxLength: MAX_URL, format: 'uri', example: 'https://partner.example/hooks/workspace' })
  @MaxLength(MAX_URL)
  @HttpUrl()
  url!: string;

  @Optional() @Line(MAX_DESCRIPTION, { example: 'Survey results for the warehouse' }) description?: string;

  /** Types of `GET /webhooks/event-types`. */
  @ApiProperty({
    type: [String],
    minItems: 1,
    maxItems: MAX_TYPES,
    items: { type: 'string', maxLength: MAX_TYPE },
    example: ['form.response_submitted', 'task.completed'],
  })
  @Distinct()
  @MaxLength(MAX_TYPE, { each: true })
  @IsString({ each: true })
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_TYPES)
  @IsArray()
  event_types!: string[];

  @Optional()
  @Nested(WebhookFilterInput, { example: {} })
  @OnlyKnown(WebhookFilterInput)
  filter?: WebhookFilterInput;

  /** Default: true. An inactive webhook gets no events, also not those of this time later. */
  @Optional() @Flag({ example: true }) active?: boolean;
}

export class UpdateWebhook extends IntersectionType(
  PartialType(OmitType(CreateWebhook, ['id', 'scope']), { skipNullProperties: false }),
  BaseRevision,
) {}

export class ListWebhooks extends PageQuery {
  /** Only webhooks of this scope. */
  @Optional() @OneOf(WEBHOOK_SCOPES) scope?: WebhookScope;
}

export class ListDeliveries extends PageQuery {
  /** Only deliveries in this state. */
  @Optional() @OneOf(DELIVERY_STATES) state?: DeliveryState;
}

export class RedeliverSince {
  /** Deliveries of events from this time on. */
  @Time({ example: '2026-11-21T09:30:00.000Z' }) since!: Date;
  /** Only deliveries in this state. */
  @Optional() @OneOf(['delivered', 'failed'], { example: 'failed' }) state?: 'delivered' | 'failed';
}
