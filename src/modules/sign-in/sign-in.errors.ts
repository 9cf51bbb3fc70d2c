import { defineError } from '../../platform/http/api-error.js';

/** Errors of the sign-in routes that the OpenID provider does not define. */
export const SignInErrors = {
  insufficientScope: defineError(403, 'insufficient_scope', 'The token was not granted the scope openid.'),
} as const;
