import { Controller, Param } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiNotFoundResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { Public } from '../../../platform/context/access.decorators.js';
import { BytesBody } from '../../../platform/http/body/body.guard.js';
import { ApiPage } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { Errors } from '../../../platform/http/errors.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { UnsubscribeService } from './unsubscribe.service.js';

const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'] as const;
const MAX_BODY = 4_096;

const ApiToken = () =>
  ApiParam({
    name: 'token',
    description: 'The token of the link in an e-mail.',
    schema: { type: 'string', example: 'MDE4OTBhNWQ.c2lnbmF0dXJl' },
  });

const ApiInvalidToken = () =>
  ApiNotFoundResponse({
    description: 'The token is invalid.',
    content: { 'text/html': { schema: { type: 'string' } } },
  });

/** One-click unsubscription (RFC 8058). The token in the path is the credential. */
@ApiTags('notifications')
@Controller('notifications/unsubscribe')
export class UnsubscribeController {
  constructor(private readonly unsubscribes: UnsubscribeService) {}

  @Endpoint('GET :token', {
    id: 'showUnsubscribe',
    summary: 'Page that confirms the end of notification e-mails',
    description: 'For browsers. Reading it changes nothing.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @ApiPage()
  @ApiInvalidToken()
  @Public()
  page(@Param('token') token: string): Promise<BodyReply> {
    return this.unsubscribes.page(token);
  }

  @Endpoint('POST :token', {
    id: 'unsubscribeNotifications',
    summary: 'End notification e-mails',
    description:
      'The address of `List-Unsubscribe` (RFC 8058): switches off e-mails of one kind, or all. The body is ignored.',
    status: 200,
    errors: [Errors.badRequest, Errors.unsupportedMediaType, Errors.bodyTooLarge, Errors.tooManyRequests],
  })
  @ApiToken()
  @ApiConsumes(...FORM_TYPES)
  @ApiBody({
    required: false,
    schema: {
      type: 'object',
      properties: { 'List-Unsubscribe': { type: 'string', enum: ['One-Click'], example: 'One-Click' } },
    },
  })
  @ApiPage()
  @ApiInvalidToken()
  @BytesBody({ types: FORM_TYPES, limit: MAX_BODY })
  @RateLimited(PUBLIC_FORM_LIMIT)
  @Public()
  unsubscribe(@Param('token') token: string): Promise<BodyReply> {
    return this.unsubscribes.unsubscribe(token);
  }
}
