import { defineError, Errors } from '../../platform/http/errors.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';

export const SecurityErrors = {
  invalidPassword: defineError(403, 'invalid_password', 'The password is incorrect.'),
  recentSignInRequired: defineError(
    403,
    'recent_sign_in_required',
    'The account has no password: sign in again (`prompt=login`) and repeat the request within ten minutes.',
  ),
  notFound: defineError(404, 'not_found', 'You have no object with this id.'),
  managedExternally: defineError(
    409,
    'managed_externally',
    'Passwords, sessions and second factors are managed by the identity provider of this installation.',
  ),
  alreadyEnabled: defineError(409, 'second_factor_enabled', 'The second factor is enabled already.'),
  notEnabled: defineError(409, 'second_factor_not_enabled', 'The second factor is not enabled.'),
  notInitiated: defineError(
    409,
    'second_factor_not_initiated',
    'Start with initiate-2fa; an enrolment expires after 15 minutes.',
  ),
  invalidCode: defineError(422, 'invalid_code', 'The code is incorrect or has been used.'),
  passkeysUnavailable: defineError(
    409,
    'passkeys_unavailable',
    'Browsers offer passkeys only for an https address with a host name, or localhost; PUBLIC_URL is neither.',
  ),
  serviceAccount: defineError(
    409,
    'service_account',
    'A service account signs in with the secret of its client and has no passkeys.',
  ),
  noMailProtocol: defineError(
    409,
    'no_mail_protocol',
    'No server of this installation accepts application passwords for these protocols; `application_password_protocols` of GET /settings/security lists the accepted ones.',
  ),
  passkeyRegistered: defineError(409, 'passkey_registered', 'The passkey is registered already.'),
  invalidPasskey: defineError(
    422,
    'invalid_passkey',
    'The passkey is invalid, or its challenge was used or has expired; request new options.',
  ),
  tooManyPasskeys: defineError(
    422,
    'too_many_passkeys',
    `An account may have at most ${QUOTAS.account.passkeys} passkeys.`,
  ),
  weakPassword: defineError(422, 'weak_password', 'The new password is too easy to guess; see details.', {
    example: {
      details: [
        {
          field: 'new_password',
          code: 'min_length',
          message: 'new_password must have 12 characters or more',
        },
      ],
    },
  }),
  tooManyApplicationPasswords: defineError(
    422,
    'too_many_application_passwords',
    `A user may have at most ${QUOTAS.account.application_passwords} application passwords.`,
  ),
  tooManyAttempts: defineError(
    429,
    'too_many_attempts',
    'Too many failed attempts; retry after Retry-After seconds.',
  ),
  mailServiceUnavailable: defineError(
    503,
    'mail_service_unavailable',
    'The mail service is unavailable for application passwords; retry shortly.',
  ),
} as const;

/** Errors of routes that confirm the identity of the caller (`OwnerCheck`). */
export const OWNER_CHECK_ERRORS = [
  SecurityErrors.invalidPassword,
  SecurityErrors.recentSignInRequired,
  SecurityErrors.invalidCode,
  SecurityErrors.tooManyAttempts,
  Errors.tooManyRequests,
];

/** @param wait seconds */
export const tooManyAttempts = (wait: number) =>
  SecurityErrors.tooManyAttempts.with({ headers: { 'Retry-After': String(Math.ceil(wait)) } });
