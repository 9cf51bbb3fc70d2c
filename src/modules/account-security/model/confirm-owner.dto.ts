import { Matches } from 'class-validator';
import { Optional, Text } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from './guess-limits.js';

/**
 * Confirms the identity of the caller. An account with neither a password nor a second factor needs no field, but must have
 * signed in to this session within the last ten minutes.
 */
export class ConfirmOwner {
  /** Your password, if the account has one. */
  @Optional() @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) password?: string;

  /**
   * An authenticator code. Required if the second factor is enabled and this session proved it more than ten minutes ago. A
   * proof by `verify-passkey` replaces the code.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;
}
