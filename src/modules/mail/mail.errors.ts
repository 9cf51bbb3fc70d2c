import { defineError, ErrorKind } from '../../platform/http/api-error.js';
import { MailRefusal } from './mail-refusal.response.js';

export const MailErrors = {
  endpointNotAvailable: defineError(
    404,
    'mail_endpoint_not_available',
    'This method and path are not part of the mail API.',
  ),
  tenantRequired: defineError(403, 'tenant_id_required', 'Mail needs a token that names a workspace.'),
  accountRequired: defineError(
    403,
    'mail_account_required',
    'No mail account belongs to you here; an administrator can link one.',
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
    'Too many of your mail requests are being worked on; try again shortly.',
  ),
  busy: defineError(
    503,
    'mail_service_busy',
    'Too many mail requests are being worked on; try again shortly.',
  ),
  unavailable: defineError(503, 'mail_service_unavailable', 'This installation has no mail service.'),
  proxyFailed: defineError(500, 'Proxy failed', 'The mail service gave no usable answer.'),
} as const;

/** For the documentation only: these come from the mail service, which knows no `message` beside `error`. */
const refusal = (status: number, error: string, more: Record<string, unknown>) =>
  new ErrorKind(status, error, 'The mail service refuses it.', { message: undefined, ...more }, MailRefusal);

/** What the mail service refuses is passed on as it is; one example for each status. */
export const MAIL_REFUSALS = [
  refusal(400, '"limit" must be a number', {
    code: 'InputValidationError',
    details: { limit: '"limit" must be a number' },
  }),
  refusal(403, 'Your email has too many recipients', { code: 'TooMany' }),
  refusal(404, 'This message does not exist', { code: 'MessageNotFound' }),
  refusal(500, 'Nothing was changed', {}),
];
