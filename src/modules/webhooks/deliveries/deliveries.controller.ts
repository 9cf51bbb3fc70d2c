import { Body, Controller, Query } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { ListDeliveries, RedeliverSince } from '../webhooks.dto.js';
import { WebhookErrors, WEBHOOKS } from '../webhooks.resource.js';
import {
  RedeliveredEnvelope,
  WebhookDeliveryEnvelope,
  WebhookDeliveryListEnvelope,
  WebhookEventTypesEnvelope,
} from '../responses/webhooks.response.js';
import { DeliveriesService } from './deliveries.service.js';

/** Each request makes a request to the receiver. */
const TEST_LIMIT: RouteLimit = {
  scope: 'webhook-test',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

const OWNER_ERRORS = [WEBHOOKS.notFound, WebhookErrors.notOwner];

/** Before the controller with `:id`. */
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
      'Sends an event `webhook.test` now and waits for the response of the receiver, at most 10 seconds. Also for an inactive webhook.',
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
      'Deliveries of events since then are sent again, in the order of the events, with their `webhook-id`. Objects are read again.',
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
    description: 'The event is sent again, with its `webhook-id`. The object is read again.',
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
