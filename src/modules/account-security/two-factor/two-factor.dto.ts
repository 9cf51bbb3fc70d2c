import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from '../password-sign-in.js';

const CODE = /^\d{3}[ -]?\d{3}$/;
const CODE_MESSAGE = 'code must be the six digits the authenticator shows';

export class InitiateTwoFactor {
  @ApiProperty({ example: 'correct horse battery staple', description: 'Your password.' })
  @MaxLength(MAX_PASSWORD)
  @IsString()
  password!: string;
}

export class EnableTwoFactor {
  @ApiProperty({ example: '492039', description: 'What the authenticator shows.' })
  @Matches(CODE, { message: CODE_MESSAGE })
  code!: string;
}

/** One of the two. */
export class VerifyTwoFactor {
  @ApiPropertyOptional({ example: '492039', description: 'What the authenticator shows.' })
  @MayBeAbsent()
  @Matches(CODE, { message: CODE_MESSAGE })
  code?: string;

  @ApiPropertyOptional({
    example: 'k7m2x-9qd4t',
    description: 'One of the recovery codes, instead of `code`.',
  })
  @MayBeAbsent()
  @MaxLength(64)
  @IsString()
  recovery_code?: string;
}

/** And the password. */
class ConfirmTwoFactor extends VerifyTwoFactor {
  @ApiProperty({ example: 'correct horse battery staple', description: 'Your password.' })
  @MaxLength(MAX_PASSWORD)
  @IsString()
  password!: string;
}

export class DisableTwoFactor extends ConfirmTwoFactor {}

export class RenewRecoveryCodes extends ConfirmTwoFactor {}
