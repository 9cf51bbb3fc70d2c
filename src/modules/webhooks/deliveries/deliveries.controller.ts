import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { publicEventTypes } from '../../../platform/events/public-events.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { presentDelivery, type QueueRest } from '../responses/webhook.presenter.js';
import { type Attempt, bodyOf, TEST_TYPE, WebhookSender } from '../webhook-sender.js';
import {
  ListDeliveries,
  RedeliveredEnvelope,
  RedeliverSince,
  WebhookDeliveryEnvelope,
  WebhookDeliveryListEnvelope,
  WebhookErrors,
  WebhookEventTypesEnvelope,
  WEBHOOKS,
} from '../webhooks.dto.js';
import { WebhookAccess, WebhooksRepository } from '../webhooks.repository.js';
import {
  type DeliveryState,
  type Webhook,
  WEBHOOK_SCOPES,
  WebhookDelivery,
  WebhookQueue,
} from '../webhooks.schema.js';

const DAYS = 30;

const forget: Sweep = workspace.statement(
  'webhooks.forget_deliveries',
  deletion('webhook_deliveries', `occurred_at < now() - interval '${DAYS} days'`),
  { reach: 'cell' },
);

// Index webhook_deliveries_list. Their places are those of their events, before all later ones.
const again = workspace.statement<Pick<WebhookDelivery, 'id'>>(
  'webhooks.redeliver_since',
  `UPDATE webhook_deliveries SET state = 'pending', attempts = 0, due_at = occurred_at
    WHERE tenant_id = $1 AND webhook_id = $2 AND id IN (
      SELECT id FROM webhook_deliveries
       WHERE tenant_id = $1 AND webhook_id = $2 AND occurred_at >= $3 AND state <> 'pending' AND event_type <> 'webhook.test'
         AND ($4::text IS NULL OR state = $4)
       ORDER BY occurred_at, id LIMIT $5)
   RETURNING id`,
);

/** SQL of the lists of deliveries. Deliveries are deleted after 30 days. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly db: Db,
    jobs: PeriodicJobs,
  ) {
    jobs.register({ name: 'webhooks.forget-deliveries', everySeconds: 3600, deletes: forget });
  }

  /** Newest first. */
  async page(
    { tenant_id, id: webhookId }: Webhook,
    state: DeliveryState | undefined,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<WebhookDelivery[]> {
    const where = { tenant_id, webhook_id: webhookId, ...(state && { state }) };
    return rowsOf(this.db, WebhookDelivery).page(where, ['occurred_at', 'id'], after, limit, 'DESC');
  }

  async restOf({ tenant_id, id, active }: Webhook): Promise<QueueRest> {
    if (!active) return 'inactive';
    const queue = await rowsOf(this.db, WebhookQueue).one({ tenant_id, webhook_id: id });
    return queue && queue.failures > 0 ? queue.held_until : null;
  }

  async insert(tx: Tx, values: ColumnValues<WebhookDelivery> & { tenant_id: string }) {
    return (await rowsOf(tx, WebhookDelivery).insert(values)) as WebhookDelivery;
  }

  /** Makes a delivery pending again, at the end of the queue. Null means no such delivery. */
  async repeat(tx: Tx, { tenant_id, id: webhookId }: Webhook, id: string): Promise<WebhookDelivery | null> {
    const values = { state: 'pending' as const, attempts: 0, due_at: () => 'now()' };
    return (
      (await rowsOf(tx, WebhookDelivery).update({ tenant_id, webhook_id: webhookId, id }, values))[0] ?? null
    );
  }

  /** Makes deliveries pending again, in the order of their events. @returns their number, at most `limit` */
  async againSince(
    tx: Tx,
    { tenant_id, id }: Webhook,
    since: Date,
    state: DeliveryState | undefined,
    limit: number,
  ): Promise<number> {
    return (await tx.query(again, [tenant_id, id, since, state ?? null, limit])).length;
  }
}

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
    const webhook = await this.readOwn(ctx, id);
    const { state } = query;
    const { rows, next } = await this.cursors.page(query, {
      scope: `webhook deliveries ${ctx.tenantId} ${id} ${state ?? ''}`,
      key: (row: WebhookDelivery): [string, string] => [row.occurred_at.toISOString(), row.id],
      rows: (after, limit) => this.deliveries.page(webhook, state, after, limit),
    });
    const rest = await this.deliveries.restOf(webhook);
    return { deliveries: rows.map((row) => presentDelivery(row, rest)), next };
  }

  /** Sends an event `webhook.test` now, also while the webhook is inactive. @throws ApiError 404; 403 `not_owner` */
  async test(ctx: RequestContext, id: string): Promise<WebhookDeliveryEnvelope> {
    const webhook = await this.readOwn(ctx, id);
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
    return { delivery: presentDelivery(row, webhook.active ? null : 'inactive') };
  }

  /** @throws ApiError 404; 403 `not_owner` */
  async redeliver(ctx: RequestContext, id: string, deliveryId: string): Promise<WebhookDeliveryEnvelope> {
    const webhook = await this.readOwn(ctx, id);
    const row = await this.db.tx(async (tx) => {
      const pending = await this.deliveries.repeat(tx, webhook, deliveryId);
      if (pending) await this.webhooks.wake(tx, webhook);
      return pending;
    });
    if (!row) throw WebhookErrors.deliveryNotFound.with();
    return { delivery: presentDelivery(row, webhook.active ? null : 'inactive') };
  }

  /** The deliveries keep the order of their events. @throws ApiError 404; 403 `not_owner` */
  async redeliverSince(
    ctx: RequestContext,
    id: string,
    { since, state }: RedeliverSince,
  ): Promise<RedeliveredEnvelope> {
    const webhook = await this.readOwn(ctx, id);
    let redelivered = 0;
    for (let count = BATCH; count === BATCH; redelivered += count)
      count = await this.db.tx((tx) => this.deliveries.againSince(tx, webhook, since, state, BATCH));
    await this.db.tx((tx) => this.webhooks.wake(tx, webhook));
    return { redelivered };
  }

  private async readOwn(ctx: RequestContext, id: string): Promise<Webhook> {
    const isManager = await this.access.isManager(ctx);
    const webhook = this.access.assertVisible(ctx, await this.webhooks.find(ctx.tenantId, id), isManager);
    this.access.assertOwner(ctx, webhook);
    return webhook;
  }
}

/** Each request makes a request to the receiver. */
const TEST_LIMIT: RouteLimit = {
  scope: 'webhook-test',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

const OWNER_ERRORS = [WEBHOOKS.notFound, WebhookErrors.notOwner];

/** This controller comes before the one with `:id`. */
@Controller(WEBHOOKS.options.path)
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Endpoint('GET event-types', {
    tag: 'webhooks',
    id: 'listWebhookEventTypes',
    summary: 'List the types of events',
    description:
      'Those that webhooks can subscribe to. The section `webhooks` of this document shows each with an example.',
    response: [WebhookEventTypesEnvelope, 'All types, by name.'],
  })
  eventTypes(): WebhookEventTypesEnvelope {
    return this.deliveries.eventTypes();
  }

  @Endpoint('GET :id/deliveries', {
    tag: 'webhooks',
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'Newest first, of the last 30 days. Only its owner sees them.',
    response: [WebhookDeliveryListEnvelope, 'A page of deliveries.'],
    errors: OWNER_ERRORS,
  })
  list(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: ListDeliveries,
  ): Promise<WebhookDeliveryListEnvelope> {
    return this.deliveries.list(ctx, id, query);
  }

  @Endpoint('POST :id/test', {
    tag: 'webhooks',
    id: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Sends an event `webhook.test` now and waits for the response of the receiver, at most 10 seconds. Also for an inactive webhook. A test that fails is not repeated, and deactivates nothing.',
    status: 200,
    response: [WebhookDeliveryEnvelope, 'The delivery, successful or failed.'],
    errors: [...OWNER_ERRORS, Errors.tooManyRequests],
  })
  @RateLimited(TEST_LIMIT)
  test(@Ctx() ctx: RequestContext, @Id() id: string): Promise<WebhookDeliveryEnvelope> {
    return this.deliveries.test(ctx, id);
  }

  @Endpoint('POST :id/redeliver', {
    tag: 'webhooks',
    id: 'redeliverWebhookEvents',
    summary: 'Repeat deliveries from a time on',
    description:
      'Deliveries of events since then are sent again, in the order of the events, with their `webhook-id`. Objects are read again. Those of an inactive webhook wait until it is activated.',
    status: 200,
    response: [RedeliveredEnvelope, 'The number of deliveries that are pending again.'],
    errors: OWNER_ERRORS,
  })
  redeliverSince(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Body() body: RedeliverSince,
  ): Promise<RedeliveredEnvelope> {
    return this.deliveries.redeliverSince(ctx, id, body);
  }

  @Endpoint('POST :id/deliveries/:delivery_id/redeliver', {
    tag: 'webhooks',
    id: 'redeliverWebhookEvent',
    summary: 'Repeat a delivery',
    description:
      'The event is sent again, with its `webhook-id`. The object is read again. That of an inactive webhook waits until it is activated.',
    status: 200,
    response: [WebhookDeliveryEnvelope, 'The delivery, pending again.'],
    errors: OWNER_ERRORS,
  })
  redeliver(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('delivery_id') deliveryId: string,
  ): Promise<WebhookDeliveryEnvelope> {
    return this.deliveries.redeliver(ctx, id, deliveryId);
  }
}
