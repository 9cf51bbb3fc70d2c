import { cutToMinute, isToMinute } from '../../../platform/events/anonymous-events.js';
import type { Webhook, WebhookDelivery } from '../webhooks.schema.js';
import type { WebhookDeliveryResponse, WebhookResponse } from '../webhooks.dto.js';

/** @param secret in the response that creates or replaces it */
export function presentWebhook(row: Webhook, secret: string | null = null): WebhookResponse {
  const overlaps = row.previous_until !== null && row.previous_until.getTime() > Date.now();
  return {
    id: row.id,
    revision: row.revision,
    scope: row.scope,
    owner_id: row.owner_id,
    url: row.url,
    description: row.description,
    event_types: row.event_types,
    filter: row.filter,
    active: row.active,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    secret,
    previous_secret_until: overlaps ? row.previous_until!.toISOString() : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Why pending deliveries of a webhook wait: it is inactive, or its queue rests until a time after failures. Null: they do not. */
export type QueueRest = 'inactive' | Date | null;

export function presentDelivery(row: WebhookDelivery, rest: QueueRest): WebhookDeliveryResponse {
  const next = row.state === 'pending' ? nextAttempt(row, rest) : null;
  const shown = (time: Date | null): string | null =>
    (time && isToMinute(row.occurred_at) ? cutToMinute(time) : time)?.toISOString() ?? null;
  return {
    id: row.id,
    event_type: row.event_type,
    occurred_at: row.occurred_at.toISOString(),
    state: row.state,
    attempts: row.attempts,
    attempted_at: shown(row.attempted_at),
    next_attempt_at: shown(next),
    status_code: row.status_code,
    latency_ms: row.latency_ms,
    response: row.response,
    error: row.error,
  };
}

function nextAttempt({ due_at: due }: WebhookDelivery, rest: QueueRest): Date | null {
  if (rest === 'inactive') return null;
  return rest !== null && rest > due ? rest : due;
}
