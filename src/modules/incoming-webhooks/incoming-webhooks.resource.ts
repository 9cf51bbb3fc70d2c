import { defineError } from '../../platform/http/api-error.js';
import { resource } from '../../platform/resources/resource.js';
import { IncomingWebhookResponse } from './incoming-webhooks.response.js';

export const INCOMING_WEBHOOKS = resource({
  tag: 'webhooks',
  name: 'incoming webhook',
  path: 'incoming-webhooks',
  item: IncomingWebhookResponse,
  notFound: 'You have no such incoming webhook.',
  revision: 'required',
});

export const IncomingWebhookErrors = {
  alreadyExists: defineError(409, 'already_exists', 'This id is taken.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the incoming webhook as it is.'),
  notOwner: defineError(
    403,
    'not_owner',
    'Only its owner may do this: it writes with the rights of its owner. You may deactivate or delete it.',
  ),
  addressNotFound: defineError(
    404,
    'not_found',
    'The address is unknown or inactive, or its owner may not write to its target.',
  ),
} as const;
