import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';
import { isName, Name } from '../../../../platform/http/input.decorators.js';
import { WholeListEnvelope } from '../../../../platform/paging/page.dto.js';
import { CHALLENGE_SECONDS } from './passkey-challenges.js';

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

export class PasskeyResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Laptop" */ name!: string;
  /** Whether a provider synchronises the passkey between devices. @example true */ synced!: boolean;
  @ApiProperty(DATE_TIME) created_at!: Date;
  /** Null before the first use. */
  @ApiProperty(DATE_TIME) last_used_at!: Date | null;
}

export class PasskeyListEnvelope extends WholeListEnvelope {
  /** Newest first. */
  passkeys!: PasskeyResponse[];
}

export class PasskeyEnvelope {
  passkey!: PasskeyResponse;
}

export class RegisteredPasskeyEnvelope extends PasskeyEnvelope {
  /**
   * Ten codes that replace a lost factor, each valid once. Returned once, with the first factor of the account.
   * @example ["k7m2x-9qd4t", "3fv8n-w0h6p"]
   */
  @ApiPropertyOptional() recovery_codes?: string[];
}

export class PasskeyRemoved {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class PasskeyOptions {
  /** Options of `navigator.credentials` in the JSON form of WebAuthn Level 3, with a challenge that is valid once. */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { challenge: 'f5lUmH2sSPGtYg5cRwVDpQ', rpId: 'workspace.example' },
  })
  public_key!: object;
  /** Seconds until the challenge expires. */
  @ApiProperty({ type: 'integer', example: CHALLENGE_SECONDS }) expires_in!: number;
}

export class PasskeyVerified {
  @ApiProperty({ enum: [true], example: true }) verified!: true;
  @ApiProperty({ enum: ['passkey'], example: 'passkey' }) method!: 'passkey';
}

export class PasskeyPage {
  /** @example "https://workspace.example/apis/v1/account/passkeys/AZqLPTvVcY6rvKsUuSEd0Q" */ url!: string;
  /** Seconds until the link expires. */
  @ApiProperty({ type: 'integer', example: 900 }) expires_in!: number;
}

export const passkeyOptions = (options: object): PasskeyOptions => ({
  public_key: options,
  expires_in: CHALLENGE_SECONDS,
});
