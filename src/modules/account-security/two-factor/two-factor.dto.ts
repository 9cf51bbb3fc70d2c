import { Matches } from 'class-validator';
import { Optional, Text } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from '../model/guess-limits.js';

const CODE = /^\d{3}[ -]?\d{3}$/;
const CODE_MESSAGE = 'code must be the six digits of the authenticator';

export class InitiateTwoFactor {
  /** Your password. */
  @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) password!: string;
}

export class EnableTwoFactor {
  /** The code of the authenticator. @example "492039" */
  @Matches(CODE, { message: CODE_MESSAGE }) code!: string;
}

/** Either `code` or `recovery_code`. */
export class VerifyTwoFactor {
  /** The code of the authenticator. @example "492039" */
  @Optional() @Matches(CODE, { message: CODE_MESSAGE }) code?: string;
  /** A recovery code, instead of `code`. */
  @Optional() @Text(64, { example: 'k7m2x-9qd4t' }) recovery_code?: string;
}

/** The password and a proof of the second factor. */
class ConfirmTwoFactor extends VerifyTwoFactor {
  /** Your password. */
  @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) password!: string;
}

export class DisableTwoFactor extends ConfirmTwoFactor {}

export class RenewRecoveryCodes extends ConfirmTwoFactor {}
