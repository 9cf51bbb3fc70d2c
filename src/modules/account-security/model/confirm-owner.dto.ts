import { Matches } from 'class-validator';
import { Optional, Text } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from './guess-limits.js';

/**
 * Confirms the identity of the caller. An account with neither a password nor a second factor needs no field, but a session
 * whose sign-in is at most ten minutes old.
 */
export class ConfirmOwner {
  /** Your password, if the account has one. */
  @Optional() @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) password?: string;

  /**
   * An authenticator code. Required with the second factor on, when this session proved it more than ten minutes ago; a proof
   * by `verify-passkey` replaces it.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;
}
