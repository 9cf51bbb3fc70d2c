import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { publicEventTypes } from '../../../platform/events/public-events.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { WebhookAccess } from '../webhook-access.js';
import { type Webhook, WEBHOOK_SCOPES, type WebhookDelivery } from '../webhook.entity.js';
import { presentDelivery } from '../responses/webhook.presenter.js';
import { type Attempt, bodyOf, TEST_TYPE, WebhookSender } from '../webhook-sender.js';
import type { ListDeliveries, RedeliverSince } from '../webhooks.dto.js';
import { WebhooksRepository } from '../webhooks.repository.js';
import { WebhookErrors } from '../webhooks.resource.js';
import type {
  RedeliveredEnvelope,
  WebhookDeliveryEnvelope,
  WebhookDeliveryListEnvelope,
  WebhookEventTypesEnvelope,
} from '../responses/webhooks.response.js';
import { DeliveriesRepository } from './deliveries.repository.js';

/** Deliveries that one transaction makes pending again. */
const BATCH = 5_000;

/** What a webhook has delivered. Only its owner sees it: a response may repeat the content of an event. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly deliveries: DeliveriesRepository,
    private readonly webhooks: WebhooksRepository,
    private readonly access: WebhookAccess,
    private readonly sender: WebhookSender,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  eventTypes(): WebhookEventTypesEnvelope {
    const event_types = publicEventTypes().map(({ type, description, subject }) => ({
      type,
      description,
      object: subject.kind,
      facts: Object.keys(subject.facts),
      filters: [...(subject.filters ?? [])],
      scopes: WEBHOOK_SCOPES.filter((scope) => scope === 'user' || subject.owner === undefined),
    }));
    return { event_types };
  }

  /** @throws ApiError 404; 403 `not_owner` */
  async list(ctx: RequestContext, id: string, query: ListDeliveries): Promise<WebhookDeliveryListEnvelope> {
    const webhook = await this.own(ctx, id);
    const { state } = query;
    const { rows, next } = await this.cursors.page(query, {
      scope: `webhook deliveries ${ctx.tenantId} ${id} ${state ?? ''}`,
      key: (row: WebhookDelivery): [string, string] => [row.occurred_at.toISOString(), row.id],
      rows: (after, limit) => this.deliveries.page(webhook, state, after, limit),
    });
    return { deliveries: rows.map(presentDelivery), next };
  }

  /** Sends an event `webhook.test` now, also while the webhook is inactive. @throws ApiError 404; 403 `not_owner` */
  async test(ctx: RequestContext, id: string): Promise<WebhookDeliveryEnvelope> {
    const webhook = await this.own(ctx, id);
    const occurredAt = new Date();
    const message = { id: uuidv7(), body: bodyOf(TEST_TYPE, occurredAt, JSON.stringify({ webhook_id: id })) };
    const attempt = (await this.sender.send(webhook, message)) as Attempt;
    const { ok, statusCode, latencyMs, ...outcome } = attempt;
    const row = await this.db.tx((tx) =>
      this.deliveries.insert(tx, {
        tenant_id: ctx.tenantId,
        webhook_id: id,
        id: message.id,
        event_type: TEST_TYPE,
        facts: { webhook_id: id },
        occurred_at: occurredAt,
        due_at: occurredAt,
        state: ok ? 'delivered' : 'failed',
        attempts: 1,
        attempted_at: new Date(),
        status_code: statusCode,
        latency_ms: latencyMs,
        ...outcome,
      }),
    );
    return { delivery: presentDelivery(row) };
  }

  /** @throws ApiError 404; 403 `not_owner` */
  async redeliver(ctx: RequestContext, id: string, deliveryId: string): Promise<WebhookDeliveryEnvelope> {
    const webhook = await this.own(ctx, id);
    const row = await this.db.tx(async (tx) => {
      const pending = await this.deliveries.again(tx, webhook, deliveryId);
      if (pending) await this.webhooks.wake(tx, webhook);
      return pending;
    });
    if (!row) throw WebhookErrors.deliveryNotFound.with();
    return { delivery: presentDelivery(row) };
  }

  /** In the order of their events. @throws ApiError 404; 403 `not_owner` */
  async redeliverSince(
    ctx: RequestContext,
    id: string,
    { since, state }: RedeliverSince,
  ): Promise<RedeliveredEnvelope> {
    const webhook = await this.own(ctx, id);
    let redelivered = 0;
    for (let count = BATCH; count === BATCH; redelivered += count)
      count = await this.db.tx((tx) => this.deliveries.againSince(tx, webhook, since, state, BATCH));
    await this.db.tx((tx) => this.webhooks.wake(tx, webhook));
    return { redelivered };
  }

  private async own(ctx: RequestContext, id: string): Promise<Webhook> {
    const isManager = await this.access.isManager(ctx);
    const webhook = this.access.visible(ctx, await this.webhooks.find(ctx.tenantId, id), isManager);
    this.access.assertOwner(ctx, webhook);
    return webhook;
  }
}
