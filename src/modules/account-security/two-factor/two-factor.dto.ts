import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
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

export class TwoFactorInitiated {
  /** Secret to type into the authenticator. @example "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" */ secret!: string;
  /** @example "otpauth://totp/Workspace:alice%40demo.example?issuer=Workspace&secret=JBSWY3DPEHPK3PXP" */
  otpauth_url!: string;
  /** The URL as QR code image. @example "data:image/png;base64,iVBORw0KGgo=" */ qr_code!: string;
  /** Seconds until the enrolment expires. @example 900 */ @ApiProperty({ type: 'integer' })
  expires_in!: number;
}

export class RecoveryCodes {
  /**
   * Ten codes that replace a lost authenticator, each valid once. Returned only once.
   * @example ["k7m2x-9qd4t", "3fv8n-w0h6p"]
   */
  recovery_codes!: string[];
}

export class TwoFactorEnabled extends RecoveryCodes {
  @ApiProperty({ enum: [true], example: true }) enabled!: true;
}

export class TwoFactorVerified {
  @ApiProperty({ enum: [true], example: true }) verified!: true;
  /** @example "totp" */ method!: 'totp' | 'recovery_code';
  /** Remaining recovery codes, after the use of one. @example 9 */
  @ApiPropertyOptional({ type: 'integer' }) recovery_codes_left?: number;
}

export class TwoFactorDisabled {
  @ApiProperty({ enum: [false], example: false }) enabled!: false;
}
