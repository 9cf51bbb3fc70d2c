import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { RateLimit } from '../../../platform/rate-limits/rate-limit.js';
import { RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { readToken } from '../../../platform/secrets/workspace-token.js';
import { TenantsApi } from '../../tenants/index.js';
import type { IncomingWebhook } from '../incoming-webhook.entity.js';
import { IncomingWebhooksRepository } from '../incoming-webhooks.repository.js';
import { IncomingWebhookErrors } from '../incoming-webhooks.resource.js';
import { HookTargets } from './hook-targets.js';
import type { HookReceiptResponse } from './payloads.dto.js';

/** Of one address, as Slack's: about one message in a second. */
const ADDRESS_LIMIT: RateLimit = { scope: 'incoming-webhook', requests: 60, perSeconds: 60 };

/** Requests of programs at secret addresses. */
@Injectable()
export class HooksService {
  constructor(
    private readonly hooks: IncomingWebhooksRepository,
    private readonly targets: HookTargets,
    private readonly tenants: TenantsApi,
    private readonly limits: RateLimits,
    private readonly writes: IdempotentWrites,
  ) {}

  /**
   * Makes what the address makes, once for each Idempotency-Key.
   * @param body parsed JSON
   * @throws ApiError 404 for an unknown or inactive address, an inactive owner, or a target that the owner may not write to; 429; 422
   */
  async receive(
    { token, requestId, ip }: { token: string; requestId: string; ip: string | null },
    key: IdempotencyKey | null,
    body: unknown,
  ): Promise<JsonReply<HookReceiptResponse>> {
    const { tenantId, hash } = readToken(token);
    const hook = await this.hooks.ofToken(tenantId, hash);
    const role = hook && (await this.tenants.activeRole(tenantId, hook.owner_id));
    if (!hook || !role) throw IncomingWebhookErrors.addressNotFound.with();
    await this.limits.enforce({ limit: ADDRESS_LIMIT, subject: hook.id });
    const ctx: RequestContext = { tenantId, userId: hook.owner_id, role, sessionId: null, requestId, ip };
    if (!(await this.targets.isWritable(ctx, hook.target_type, hook.target_id)))
      throw IncomingWebhookErrors.addressNotFound.with();
    const reply = await this.once(ctx, hook, key, async () => {
      const receipt: HookReceiptResponse = { ok: true, ...(await this.targets.make(ctx, hook, body)) };
      return JsonReply.of(receipt, { status: 200 });
    });
    await this.hooks.touch(hook);
    return reply;
  }

  /** The stored route names the incoming webhook, because the path has its token. */
  private async once(
    ctx: RequestContext,
    { id }: IncomingWebhook,
    key: IdempotencyKey | null,
    make: () => Promise<JsonReply<HookReceiptResponse>>,
  ): Promise<JsonReply<HookReceiptResponse>> {
    return key === null ? make() : this.writes.runHandler(ctx, { ...key, route: `POST /hooks ${id}` }, make);
  }
}
