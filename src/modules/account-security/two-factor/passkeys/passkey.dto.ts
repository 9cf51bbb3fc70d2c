import { ApiProperty } from '@nestjs/swagger';
import { IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { isName, Name, Optional } from '../../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from '../../model/guess-limits.js';

/** Characters of the name of a passkey. */
export const MAX_PASSKEY_NAME = 100;

/** Whether text, trimmed, is a name for a passkey. */
export const isPasskeyName = (text: string): boolean => isName(text, MAX_PASSKEY_NAME);

/** Confirms the identity of the caller. */
export class ConfirmOwner {
  /** Your password, if the account has one. @example "correct horse battery staple" */
  @Optional()
  @MaxLength(MAX_PASSWORD)
  @IsString()
  password?: string;

  /**
   * An authenticator code. Required with the second factor on, when this session proved it more than ten minutes ago; a proof
   * by `verify-passkey` replaces it.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;
}

export class RenamePasskey {
  /** @example "Laptop" */
  @Name(MAX_PASSKEY_NAME)
  name!: string;
}

export class RegisterPasskey extends RenamePasskey {
  /** The result of `navigator.credentials.create()` as JSON: `RegistrationResponseJSON` of WebAuthn Level 3. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { id: 'AQIDBA', type: 'public-key' } })
  @IsObject()
  credential!: object;
}

export class VerifyPasskey {
  /** The result of `navigator.credentials.get()` as JSON: `AuthenticationResponseJSON` of WebAuthn Level 3. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { id: 'AQIDBA', type: 'public-key' } })
  @IsObject()
  credential!: object;
}
