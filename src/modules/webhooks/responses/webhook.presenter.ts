import type { Webhook, WebhookDelivery } from '../webhook.entity.js';
import type { WebhookDeliveryResponse, WebhookResponse } from './webhooks.response.js';

/** @param secret in the response that creates or replaces it */
export function presentWebhook(row: Webhook, secret: string | null = null): WebhookResponse {
  const overlaps = row.previousUntil !== null && row.previousUntil.getTime() > Date.now();
  return {
    id: row.id,
    revision: row.revision,
    scope: row.scope,
    owner_id: row.ownerId,
    url: row.url,
    description: row.description,
    event_types: row.eventTypes,
    filter: row.filter,
    active: row.active,
    disabled_reason: row.disabledReason,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    secret,
    previous_secret_until: overlaps ? row.previousUntil!.toISOString() : null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export const presentDelivery = (row: WebhookDelivery): WebhookDeliveryResponse => ({
  id: row.id,
  event_type: row.eventType,
  occurred_at: row.occurredAt.toISOString(),
  state: row.state,
  attempts: row.attempts,
  attempted_at: row.attemptedAt?.toISOString() ?? null,
  next_attempt_at: row.state === 'pending' ? row.dueAt.toISOString() : null,
  status_code: row.statusCode,
  latency_ms: row.latencyMs,
  response: row.response,
  error: row.error,
});
