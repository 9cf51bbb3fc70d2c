import { defineError } from '../../platform/http/api-error.js';
import { resource } from '../../platform/resources/resource.js';
import { WebhookResponse } from './responses/webhooks.response.js';

export const WEBHOOKS = resource({
  tag: 'webhooks',
  name: 'webhook',
  path: 'webhooks',
  item: WebhookResponse,
  notFound: 'You have no such webhook.',
  revision: 'required',
});

export const WebhookErrors = {
  alreadyExists: defineError(409, 'already_exists', 'This id is taken.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the webhook as it is.'),
  notOwner: defineError(
    403,
    'not_owner',
    'Only its owner may do this: the events contain what the owner can read. You may deactivate or delete the webhook.',
  ),
  deliveryNotFound: defineError(404, 'not_found', 'The webhook has no such delivery.'),
} as const;
