import { ApiProperty } from '@nestjs/swagger';
import { EVENT_FILTERS } from '../../../platform/events/public-events.js';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { RevisionedFields } from '../../../platform/resources/item.response.js';
import {
  DELIVERY_STATES,
  type DeliveryState,
  DISABLED_REASONS,
  type DisabledReason,
  WEBHOOK_SCOPES,
  type WebhookScope,
} from '../webhook.entity.js';

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
  /** Of a pending delivery. */
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
