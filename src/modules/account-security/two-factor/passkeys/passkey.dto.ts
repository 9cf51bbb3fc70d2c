import { ApiProperty } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { isName, Name } from '../../../../platform/http/input.decorators.js';

/** Characters of the name of a passkey. */
export const MAX_PASSKEY_NAME = 100;

/** Whether text, trimmed, is a name for a passkey. */
export const isPasskeyName = (text: string): boolean => isName(text, MAX_PASSKEY_NAME);

export class RenamePasskey {
  /** @example "Laptop" */
  @Name(MAX_PASSKEY_NAME) name!: string;
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
