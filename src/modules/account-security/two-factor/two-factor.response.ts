import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

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
