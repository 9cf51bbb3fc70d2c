import { Controller } from '@nestjs/common';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { QuotaErrors } from '../../platform/quotas/quotas.dto.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
import { CreateWebhook, ListWebhooks, UpdateWebhook, WebhookErrors, WEBHOOKS } from './webhooks.dto.js';
import { WebhooksService } from './webhooks.service.js';

@Controller(WEBHOOKS.options.path)
export class WebhooksController extends ResourceController(WEBHOOKS, WebhooksService, {
  list: {
    query: ListWebhooks,
    description: 'Yours; with the permission `webhooks.manage` also those of the workspace. Oldest first.',
  },
  create: {
    body: CreateWebhook,
    description:
      'Events that you can read are sent to the address, signed by Standard Webhooks. The response contains the secret, which is not returned again.',
    errors: [Errors.forbidden, WebhookErrors.alreadyExists, QuotaErrors.exceeded],
  },
  read: { description: 'Without the secret.' },
  update: {
    body: UpdateWebhook,
    description:
      'Missing fields stay unchanged. `active: true` sends pending deliveries at once. Administrators may deactivate webhooks of the workspace of other owners.',
    example: { active: false, base_revision: 1 },
    errors: [Errors.forbidden, WebhookErrors.notOwner, WebhookErrors.noChanges],
  },
  delete: { description: 'With its deliveries.' },
}) {
  @Endpoint('POST :id/rotate-secret', {
    tag: 'webhooks',
    id: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook',
    description:
      'The response contains the new secret, which is not returned again. For 24 hours each delivery has signatures with both secrets.',
    status: 200,
    response: [WEBHOOKS.envelopes.item, 'The webhook, with its new secret.'],
    errors: [WEBHOOKS.notFound, WebhookErrors.notOwner],
    etag: WEBHOOKS.kind,
  })
  rotate(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.service.rotate(ctx, id);
  }
}
