import { ErrorKind } from '../../platform/http/api-error.js';

/**
 * Errors of the sign-in routes that the OpenID provider does not define. The routes are not operations of the API: no
 * `defineError`, which adds to the errors of its documentation.
 */
export const SignInErrors = {
  insufficientScope: new ErrorKind(403, 'insufficient_scope', 'The token was not granted the scope openid.'),
} as const;
