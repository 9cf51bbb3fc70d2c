import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { isPublicKey } from '../../lib/web-push/index.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { fieldError } from '../../platform/http/errors.js';
import { assertAddressField } from '../../platform/outbound/address-field.js';
import { OutboundHttp } from '../../platform/outbound/outbound-http.js';
import { Cursors } from '../../platform/paging/cursors.js';
import type { PageQuery } from '../../platform/paging/page.dto.js';
import type { CreatePushSubscription, PushKeysInput } from './push.dto.js';
import type { PushSubscription } from './push.entity.js';
import { PushErrors } from './push.errors.js';
import { PushKeys } from './push-keys.js';
import type {
  PushKeyEnvelope,
  PushSubscriptionListEnvelope,
  PushSubscriptionResponse,
  PushTestEnvelope,
} from './push.response.js';
import { PushSender } from './push-sender.js';
import { PushSubscriptionsRepository } from './push-subscriptions.repository.js';

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
    const { id, publicKey } = await this.keys.current();
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
    if (id === undefined) return (await this.keys.current()).id;
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
