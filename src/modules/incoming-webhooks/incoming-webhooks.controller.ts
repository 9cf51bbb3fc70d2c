import { Controller } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Id } from '../../platform/http/id.pipe.js';
import { QuotaErrors } from '../../platform/quotas/quotas.errors.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
import {
  CreateIncomingWebhook,
  ListIncomingWebhooks,
  UpdateIncomingWebhook,
} from './incoming-webhooks.dto.js';
import { INCOMING_WEBHOOKS, IncomingWebhookErrors } from './incoming-webhooks.resource.js';
import { IncomingWebhooksService } from './incoming-webhooks.service.js';

@Controller(INCOMING_WEBHOOKS.options.path)
export class IncomingWebhooksController extends ResourceController(
  INCOMING_WEBHOOKS,
  IncomingWebhooksService,
  {
    list: {
      query: ListIncomingWebhooks,
      description: 'Yours; with the permission `webhooks.manage` those of all members. Oldest first.',
    },
    create: {
      body: CreateIncomingWebhook,
      description:
        'A secret address at which a program posts into a chat room, or creates tasks or events, with your rights: `POST /hooks/{token}`. The address is in this response only.',
      errors: [IncomingWebhookErrors.alreadyExists, QuotaErrors.exceeded],
    },
    read: { description: 'Without the address.' },
    update: {
      body: UpdateIncomingWebhook,
      description:
        'Missing fields stay unchanged. An inactive address responds 404. Administrators may deactivate those of other owners.',
      example: { active: false, base_revision: 1 },
      errors: [IncomingWebhookErrors.notOwner, IncomingWebhookErrors.noChanges],
    },
    delete: { description: 'The address responds 404 from now on. What it has made stays.' },
  },
) {
  @Endpoint('POST :id/rotate-address', {
    tag: 'webhooks',
    id: 'rotateIncomingWebhookAddress',
    summary: 'Replace the address of an incoming webhook',
    description: 'The response contains the new address. The previous one responds 404 at once.',
    status: 200,
    response: [INCOMING_WEBHOOKS.envelopes.item, 'The incoming webhook, with its new address.'],
    errors: [INCOMING_WEBHOOKS.notFound, IncomingWebhookErrors.notOwner],
    etag: INCOMING_WEBHOOKS.kind,
  })
  rotate(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.service.rotate(ctx, id);
  }
}
