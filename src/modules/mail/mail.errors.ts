import { defineError, ErrorKind } from '../../platform/http/api-error.js';
import { MailServiceError } from './mail.response.js';

export const MailErrors = {
  endpointNotAvailable: defineError(
    404,
    'mail_endpoint_not_available',
    'This method and path are not part of the mail API.',
  ),
  tenantRequired: defineError(403, 'tenant_id_required', 'The token must name a workspace.'),
  accountRequired: defineError(
    403,
    'mail_account_required',
    'You have no mail account in this workspace. An administrator can link one.',
  ),
  hiddenNotAllowed: defineError(
    422,
    'hidden_mailbox_not_allowed',
    'Hidden mailboxes are reserved for the system.',
  ),
  notAnObject: defineError(400, 'invalid_json', 'The body must be a JSON object.'),
  tooManyRequests: defineError(
    429,
    'too_many_mail_requests',
    'You have too many mail requests in progress. Try again shortly.',
  ),
  busy: defineError(
    503,
    'mail_service_busy',
    'The mail service cannot respond at the moment. Try again shortly.',
  ),
  unavailable: defineError(503, 'mail_service_unavailable', 'This installation has no mail service.'),
  proxyFailed: defineError(500, 'Proxy failed', 'The mail service sent no usable response.'),
  internal: defineError(500, 'Internal server error', 'The request failed.'),
} as const;

/** For the documentation only: errors of the mail service have no `message`. */
const rejection = (status: number, error: string, more: Record<string, unknown>) =>
  new ErrorKind(status, error, 'The mail service rejects the request.', {
    example: { message: undefined, ...more },
    type: MailServiceError,
  });

/** Errors of the mail service are forwarded unchanged; one example for each status. */
export const MAIL_REJECTIONS = [
  rejection(400, '"limit" must be a number', {
    code: 'InputValidationError',
    details: { limit: '"limit" must be a number' },
  }),
  rejection(403, 'Your email has too many recipients', { code: 'TooMany' }),
  rejection(404, 'This message does not exist', { code: 'MessageNotFound' }),
  rejection(422, 'The message has no recipients', { code: 'NoRecipients' }),
  rejection(500, 'Nothing was changed', {}),
];
