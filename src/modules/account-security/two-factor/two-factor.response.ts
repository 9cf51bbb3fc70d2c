import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class TwoFactorInitiated {
  @ApiProperty({
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    description: 'To type into the authenticator.',
  })
  secret!: string;
  @ApiProperty({
    example: 'otpauth://totp/Workspace:alice%40demo.example?issuer=Workspace&secret=JBSWY3DPEHPK3PXP',
  })
  otpauth_url!: string;
  @ApiProperty({
    example: 'data:image/png;base64,iVBORw0KGgo=',
    description: 'The same as a picture to scan.',
  })
  qr_code!: string;
  @ApiProperty({ type: 'integer', example: 900, description: 'Seconds within which to enable it.' })
  expires_in!: number;
}

export class RecoveryCodes {
  @ApiProperty({
    type: [String],
    example: ['k7m2x-9qd4t', '3fv8n-w0h6p'],
    description: 'Ten codes for when the authenticator is lost, each good once. Shown only now.',
  })
  recovery_codes!: string[];
}

export class TwoFactorEnabled extends RecoveryCodes {
  @ApiProperty({ enum: [true], example: true }) enabled!: true;
}

export class TwoFactorVerified {
  @ApiProperty({ enum: [true], example: true }) verified!: true;
  @ApiProperty({ enum: ['totp', 'recovery_code'], example: 'totp' }) method!: 'totp' | 'recovery_code';
  @ApiPropertyOptional({
    type: 'integer',
    example: 9,
    description: 'After a recovery code: how many are left.',
  })
  recovery_codes_left?: number;
}

export class TwoFactorDisabled {
  @ApiProperty({ enum: [false], example: false }) enabled!: false;
}
