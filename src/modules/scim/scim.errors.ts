import { defineError } from '../../platform/http/errors.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';

/** Errors of the routes that manage tokens. Errors of the protocol are in `model/scim-reply.ts`. */
export const ScimErrors = {
  tokenNotFound: defineError(404, 'not_found', 'The workspace has no such SCIM token.'),
  tooManyTokens: defineError(
    422,
    'too_many_scim_tokens',
    `A workspace may have at most ${QUOTAS.workspace.scim_tokens} SCIM tokens.`,
  ),
} as const;
