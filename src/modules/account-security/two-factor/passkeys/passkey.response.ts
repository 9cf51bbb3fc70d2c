import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';
import { CHALLENGE_SECONDS } from './passkey-challenges.js';

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
