import { defineError } from '../../../platform/http/api-error.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';

export const ClientErrors = {
  notFound: defineError(404, 'not_found', 'The workspace has no such client.'),
  withoutSecret: defineError(409, 'client_without_secret', 'A public client has no secret.'),
  tooManyClients: defineError(
    422,
    'too_many_clients',
    `A workspace may have at most ${QUOTAS.workspace.clients} clients.`,
  ),
} as const;
