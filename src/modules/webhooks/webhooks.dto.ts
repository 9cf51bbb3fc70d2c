import { ApiProperty, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { EVENT_FILTERS } from '../../platform/events/public-events.js';
import { DATE_TIME, EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { OnlyKnown } from '../../platform/http/body/instance.js';
import { defineError } from '../../platform/http/errors.js';
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
import { PageEnvelope, PageQuery } from '../../platform/paging/page.dto.js';
import { ClientId } from '../../platform/resources/folder.dto.js';
import { RevisionedFields } from '../../platform/resources/item.response.js';
import { resource } from '../../platform/resources/resource.js';
import {
  DELIVERY_STATES,
  type DeliveryState,
  DISABLED_REASONS,
  type DisabledReason,
  WEBHOOK_SCOPES,
  type WebhookScope,
} from './webhooks.schema.js';

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
  /** Only messages and calls of this chat room. */
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

  /** Default: true. Events of the time while a webhook is inactive are not sent, also not later: read them by the change feeds. */
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

const WHOLE = { type: 'integer', minimum: 0 } as const;

export class WebhookFilterResponse {
  @ApiProperty({ ...UUID, required: false }) form_id?: string;
  @ApiProperty({ ...UUID, required: false }) room_id?: string;
  @ApiProperty({ ...UUID, required: false }) calendar_id?: string;
  @ApiProperty({ ...UUID, required: false }) folder_id?: string;
  @ApiProperty({ ...UUID, required: false }) addressbook_id?: string;
}

export class WebhookResponse extends RevisionedFields {
  @ApiProperty({ enum: WEBHOOK_SCOPES, example: 'user' }) scope!: WebhookScope;
  /** The events are those that this member can read. */
  @ApiProperty(UUID) owner_id!: string;
  /** @example "https://partner.example/hooks/workspace" */ url!: string;
  /** @example "Survey results for the warehouse" */ description!: string;
  @ApiProperty({ type: [String], example: ['form.response_submitted', 'task.completed'] })
  event_types!: string[];
  @ApiProperty({ type: WebhookFilterResponse, example: {} }) filter!: WebhookFilterResponse;
  /** @example true */ active!: boolean;
  /**
   * Why the service has deactivated it: `gone`: the receiver responded 410; `failing`: no success for three days; `owner_inactive`: its
   * owner is no active member; `permission_lost`: its owner may no longer have webhooks of the workspace; `transferred`: it has a new owner.
   */
  @ApiProperty({ type: String, nullable: true, enum: [...DISABLED_REASONS, null], example: null })
  disabled_reason!: DisabledReason | null;
  @ApiProperty(NO_DATE_TIME) disabled_at!: string | null;
  /** The secret that verifies signatures. Only in the responses that create or replace it; otherwise null. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwfdu3Jqz8' }) secret!: string | null;
  /** Until then, deliveries also have a signature with the previous secret. */
  @ApiProperty(NO_DATE_TIME) previous_secret_until!: string | null;
}

export class WebhookDeliveryResponse {
  /** Id of the event, which the receiver gets as `webhook-id`. */
  @ApiProperty(UUID) id!: string;
  /** @example "task.completed" */ event_type!: string;
  @ApiProperty(DATE_TIME) occurred_at!: string;
  @ApiProperty({ enum: DELIVERY_STATES, example: 'delivered' }) state!: DeliveryState;
  @ApiProperty({ ...WHOLE, example: 1 }) attempts!: number;
  @ApiProperty(DATE_TIME) attempted_at!: string | null;
  /** The earliest time of the next attempt of a pending delivery. Null: it is not pending, or the webhook is inactive. */
  @ApiProperty(NO_DATE_TIME) next_attempt_at!: string | null;
  /** HTTP status of the last response. */
  @ApiProperty({ type: 'integer', minimum: 100, maximum: 999, example: 204 }) status_code!: number | null;
  /** Milliseconds of the last attempt. */
  @ApiProperty({ ...WHOLE, example: 84 }) latency_ms!: number | null;
  /** The first kilobyte of the last response. @example "" */ response!: string | null;
  /** Why the last attempt got no response. */
  @ApiProperty({ example: null }) error!: string | null;
}

export class WebhookDeliveryEnvelope {
  delivery!: WebhookDeliveryResponse;
}

export class WebhookDeliveryListEnvelope extends PageEnvelope {
  deliveries!: WebhookDeliveryResponse[];
}

export class RedeliveredEnvelope {
  /** Number of deliveries that are pending again. */
  @ApiProperty({ ...WHOLE, example: 12 }) redelivered!: number;
}

export class WebhookEventTypeResponse {
  /** @example "task.completed" */ type!: string;
  /** @example "A task was completed." */ description!: string;
  /** Member of `data` with the object. @example "task" */ object!: string;
  /** Members of `data` that describe the event. */
  @ApiProperty({ type: [String], example: ['task_id', 'revision', 'actor_id'] }) facts!: string[];
  /** Attributes of `filter` that concern the type. */
  @ApiProperty({ enum: EVENT_FILTERS, isArray: true, example: ['folder_id'] }) filters!: string[];
  /** Scopes of webhooks that may have the type: events of personal data are only for the own webhooks of their user. */
  @ApiProperty({ enum: WEBHOOK_SCOPES, isArray: true, example: ['tenant', 'user'] }) scopes!: WebhookScope[];
}

export class WebhookEventTypesEnvelope {
  event_types!: WebhookEventTypeResponse[];
}

export const WEBHOOKS = resource({
  tag: 'webhooks',
  name: 'webhook',
  path: 'webhooks',
  item: WebhookResponse,
  notFound: 'You have no such webhook.',
  revision: 'required',
});

export const WebhookErrors = {
  alreadyExists: defineError(409, 'already_exists', 'This id is taken.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the webhook as it is.'),
  notOwner: defineError(
    403,
    'not_owner',
    'Only its owner may do this: the events contain what the owner can read. You may deactivate or delete the webhook.',
  ),
  deliveryNotFound: defineError(404, 'not_found', 'The webhook has no such delivery.'),
} as const;
