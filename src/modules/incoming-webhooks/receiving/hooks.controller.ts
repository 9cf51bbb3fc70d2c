import { Body, Controller, Injectable, Param, Req } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import {
  Idempotency,
  type IdempotencyKey,
  IdempotentWrites,
} from '../../../platform/concurrency/idempotency.js';
import { Public } from '../../../platform/context/access.decorators.js';
import type { AuthenticatedRequest, RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { type RateLimit, RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { readToken } from '../../../platform/secrets/secret-box.js';
import { ChatErrors } from '../../chat/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { IncomingWebhookErrors } from '../incoming-webhooks.dto.js';
import { IncomingWebhooksRepository } from '../incoming-webhooks.repository.js';
import type { IncomingWebhook } from '../incoming-webhooks.schema.js';
import { HookTargets } from './hook-targets.js';
import { HookPayload, HookReceiptResponse } from './payloads.dto.js';

/** The limit of one address, as that of Slack: about one message in a second. */
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

/** Addresses of incoming webhooks. The token in the path is the credential. */
@Controller('hooks')
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Endpoint('POST :token', {
    tag: 'webhooks',
    id: 'receiveIncomingWebhook',
    summary: 'Post a message, or create a task or an event, at a secret address',
    description:
      'For programs: no sign-in, the token of the address is the credential. A chat room gets a message (payloads for Slack work), a task folder a task, a calendar an event, each with the name of the incoming webhook and the rights of its owner. At most 60 requests in a minute for each address.',
    status: 200,
    response: [HookReceiptResponse, 'What was made.'],
    errors: [
      IncomingWebhookErrors.addressNotFound,
      ChatErrors.roomArchived,
      QuotaErrors.exceeded,
      Errors.badRequest,
      Errors.invalidJson,
      Errors.unsupportedMediaType,
      Errors.bodyTooLarge,
      Errors.validationFailed,
      Errors.tooManyRequests,
    ],
  })
  @ApiParam({
    name: 'token',
    description: 'Of the address.',
    schema: { type: 'string', example: 'AYkKXayWd0u8zrMCCZqAV2Zvb2JhcmJhenF1eGZvb2JhcmJhenF1eGZvb2JhcmJh' },
  })
  @ApiBody({ type: HookPayload, required: true })
  @RateLimited(PUBLIC_FORM_LIMIT)
  @Public()
  receive(
    @Param('token') token: string,
    @Req() { id: requestId, ip }: AuthenticatedRequest,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: unknown,
  ): Promise<JsonReply<HookReceiptResponse>> {
    return this.hooks.receive({ token, requestId, ip: ip ?? null }, key, body);
  }
}
