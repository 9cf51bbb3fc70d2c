import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { isPublicKey } from '../../lib/web-push/index.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { assertAddressField } from '../../platform/outbound/address-field.js';
import { OutboundHttp } from '../../platform/outbound/outbound-http.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../platform/quotas/quotas.dto.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import { PushKeys } from './push-keys.js';
import { PushSender } from './push-sender.js';
import { PushSubscriptionsRepository } from './push-subscriptions.repository.js';
import {
  CreatePushSubscription,
  DeletedPushSubscription,
  PushErrors,
  PushKeyEnvelope,
  type PushKeysInput,
  PushSubscriptionEnvelope,
  PushSubscriptionListEnvelope,
  type PushSubscriptionResponse,
  PushTestEnvelope,
} from './push.dto.js';
import type { PushSubscription } from './push.schema.js';

const AUTH_BYTES = 16;
const BASE64URL = /^[\w-]+={0,2}$/;
/** Browsers of Apple end a subscription after three messages that show nothing. */
const OF_APPLE = /\.push\.apple\.com$/;
/** Seconds for which the push service keeps the message of a test. */
const TEST_TTL = 60;

/** The devices of the caller that get push messages. */
@Injectable()
export class PushService {
  constructor(
    private readonly subscriptions: PushSubscriptionsRepository,
    private readonly keys: PushKeys,
    private readonly sender: PushSender,
    private readonly http: OutboundHttp,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async key(): Promise<PushKeyEnvelope> {
    const { id, publicKey } = await this.keys.readCurrent();
    return { push_key: { id, public_key: publicKey } };
  }

  async list(ctx: RequestContext, query: PageQuery): Promise<PushSubscriptionListEnvelope> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `push-subscriptions ${ctx.tenantId} ${ctx.userId}`,
      key: ({ id }: PushSubscription): [string] => [id],
      rows: (after, limit) => this.subscriptions.page(ctx, after, limit),
    });
    return { push_subscriptions: rows.map((row) => present(ctx, row)), next };
  }

  /**
   * Of several requests with one endpoint, the last one applies, also when another user of the workspace has signed in at the device.
   * @throws ApiError 409 `quota_exceeded`; 422
   */
  async create(ctx: RequestContext, input: CreatePushSubscription): Promise<PushSubscriptionResponse> {
    const { endpoint, keys, description = '' } = input;
    assertAddressField(this.http, 'endpoint', endpoint);
    const { p256dh, auth } = keysOf(keys);
    const keyId = await this.keyOf(input.key_id);
    const { origin: service, hostname } = new URL(endpoint);
    const { can_dismiss = !OF_APPLE.test(hostname) } = input;
    const device = { endpoint, service, p256dh, auth, can_dismiss, description };
    const values = { ...device, key_id: keyId, session_id: ctx.sessionId };
    const row = await this.db.tx((tx) => this.subscriptions.store(tx, ctx, uuidv7(), values));
    return present(ctx, row);
  }

  /** @throws ApiError 404 */
  async delete(ctx: RequestContext, id: string): Promise<void> {
    const isDeleted = await this.db.tx((tx) => this.subscriptions.delete(tx, ctx, id));
    if (!isDeleted) throw PushErrors.notFound.with();
  }

  /** Sends a message to the device at once, regardless of preferences and quiet hours. @throws ApiError 404 */
  async test(ctx: RequestContext, id: string): Promise<PushTestEnvelope> {
    const subscription = await this.subscriptions.find(ctx, id);
    if (!subscription) throw PushErrors.notFound.with();
    const body = JSON.stringify({ event: 'test', tenant_id: ctx.tenantId });
    const attempt = await this.sender.send(subscription, { body, ttl: TEST_TTL, urgency: 'normal' });
    if (!attempt) throw new Error('a test has no signal that ends it');
    const isGone = attempt.outcome === 'gone';
    await (isGone
      ? this.db.tx((tx) => this.subscriptions.delete(tx, ctx, id))
      : this.subscriptions.record(subscription, attempt));
    const { outcome, statusCode, error } = attempt;
    return { accepted: outcome === 'accepted', status_code: statusCode, error, deleted: isGone };
  }

  private async keyOf(id: string | undefined): Promise<string> {
    if (id === undefined) return (await this.keys.readCurrent()).id;
    if (await this.keys.exists(id)) return id.toLowerCase();
    throw fieldError('key_id', 'invalid', 'key_id must be an id of GET /notifications/push-key');
  }
}

/** @throws ApiError 422 */
function keysOf({ p256dh, auth }: PushKeysInput): PushKeysInput {
  const publicKey = bytesOf(p256dh);
  if (!publicKey || !isPublicKey(publicKey))
    throw fieldError(
      'keys.p256dh',
      'invalid',
      'keys.p256dh must be base64url of an uncompressed point of P-256',
    );
  const secret = bytesOf(auth);
  if (secret?.length !== AUTH_BYTES)
    throw fieldError('keys.auth', 'invalid', `keys.auth must be base64url of ${AUTH_BYTES} bytes`);
  return { p256dh: publicKey.toString('base64url'), auth: secret.toString('base64url') };
}

const bytesOf = (text: string): Buffer | null =>
  BASE64URL.test(text) ? Buffer.from(text, 'base64url') : null;

const present = (ctx: RequestContext, row: PushSubscription): PushSubscriptionResponse => ({
  id: row.id,
  endpoint: row.endpoint,
  key_id: row.key_id,
  can_dismiss: row.can_dismiss,
  description: row.description,
  is_current: row.session_id !== null && row.session_id === ctx.sessionId,
  created_at: row.created_at.toISOString(),
  attempted_at: row.attempted_at?.toISOString() ?? null,
  status_code: row.status_code,
  error: row.error,
});

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
