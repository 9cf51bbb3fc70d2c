import { Body, Controller, Param, Req } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Public } from '../../../platform/context/access.decorators.js';
import type { AuthenticatedRequest } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { ChatErrors } from '../../chat/index.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.errors.js';
import { IncomingWebhookErrors } from '../incoming-webhooks.resource.js';
import { HookPayload, HookReceiptResponse } from './payloads.dto.js';
import { HooksService } from './hooks.service.js';

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
