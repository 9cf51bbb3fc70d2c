import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../platform/quotas/quotas.errors.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import { CreatePushSubscription } from './push.dto.js';
import { PushErrors } from './push.errors.js';
import {
  DeletedPushSubscription,
  PushKeyEnvelope,
  PushSubscriptionEnvelope,
  PushSubscriptionListEnvelope,
  PushTestEnvelope,
} from './push.response.js';
import { PushService } from './push.service.js';

/** Each request makes a request to a push service. */
const TEST_LIMIT: RouteLimit = {
  scope: 'push-test',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

@ApiTags('notifications')
@Controller('notifications')
export class PushController {
  constructor(private readonly push: PushService) {}

  @Endpoint('GET push-key', {
    id: 'readPushKey',
    summary: 'Read the key for push subscriptions',
    description:
      'The key by which the service identifies itself at push services (VAPID, RFC 8292). A device subscribes with it, and again when the key has another id than its subscription.',
    response: [PushKeyEnvelope, 'The current key.'],
  })
  key(): Promise<PushKeyEnvelope> {
    return this.push.key();
  }

  @Endpoint('GET push-subscriptions', {
    id: 'listPushSubscriptions',
    summary: 'List your devices with push messages',
    description: 'Of this workspace, oldest first, without their keys.',
    response: [PushSubscriptionListEnvelope, 'A page of subscriptions.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<PushSubscriptionListEnvelope> {
    return this.push.list(ctx, query);
  }

  @Endpoint('POST push-subscriptions', {
    id: 'createPushSubscription',
    summary: 'Subscribe a device to push messages',
    description:
      'Web Push for browsers and UnifiedPush: new notifications of your list are sent to the device, encrypted for it (RFC 8291). The preferences `push`, `push_content` and `quiet_hours` of `PUT /settings/notifications` apply. A device with an open socket gets none. The subscription ends with the session of this request. A further request with the same endpoint replaces its keys and keeps the id.',
    status: 201,
    response: [PushSubscriptionEnvelope, 'The subscription.'],
    errors: [QuotaErrors.exceeded],
  })
  async create(
    @Ctx() ctx: RequestContext,
    @Body() body: CreatePushSubscription,
  ): Promise<PushSubscriptionEnvelope> {
    return { push_subscription: await this.push.create(ctx, body) };
  }

  @Endpoint('DELETE push-subscriptions/:id', {
    id: 'deletePushSubscription',
    summary: 'End the push messages of a device',
    description: 'Messages that the push service already has are still delivered.',
    response: [DeletedPushSubscription, 'The subscription ended.'],
    errors: [PushErrors.notFound],
  })
  async delete(@Ctx() ctx: RequestContext, @Id() id: string): Promise<DeletedPushSubscription> {
    await this.push.delete(ctx, id);
    return { deleted: true };
  }

  @Endpoint('POST push-subscriptions/:id/test', {
    id: 'testPushSubscription',
    summary: 'Send a test message to a device',
    description:
      'At once, regardless of preferences, quiet hours and open sockets. The message is `{"event":"test"}` with the id of the workspace.',
    response: [PushTestEnvelope, 'What the push service responded.'],
    status: 200,
    errors: [PushErrors.notFound, Errors.tooManyRequests],
  })
  @RateLimited(TEST_LIMIT)
  test(@Ctx() ctx: RequestContext, @Id() id: string): Promise<PushTestEnvelope> {
    return this.push.test(ctx, id);
  }
}
