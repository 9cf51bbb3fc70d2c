import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { MayBeAbsent } from '../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from './password-sign-in.js';

export class ChangePassword {
  @ApiProperty({ example: 'correct horse battery staple' })
  @MaxLength(MAX_PASSWORD)
  @IsString()
  current_password!: string;

  @ApiProperty({
    minLength: 12,
    maxLength: MAX_PASSWORD,
    example: 'seven purple teapots dance',
    description: 'Any characters. Those that are tried first, or known from a data breach, are refused.',
  })
  @IsString()
  new_password!: string;

  @ApiPropertyOptional({
    example: '492039',
    description:
      'With the second factor on, where it was proven in this session more than ten minutes ago: a code of the authenticator.',
  })
  @MayBeAbsent()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits the authenticator shows' })
  code?: string;

  @ApiPropertyOptional({ default: true, description: 'End all other sessions.' })
  @MayBeAbsent()
  @IsBoolean()
  revoke_sessions: boolean = true;

  @ApiPropertyOptional({
    default: false,
    description: 'End all application passwords too, in every workspace.',
  })
  @MayBeAbsent()
  @IsBoolean()
  revoke_application_passwords: boolean = false;
}

export class SignOut {
  @ApiPropertyOptional({ default: false, description: 'End all your sessions, not only this one.' })
  @MayBeAbsent()
  @IsBoolean()
  everywhere: boolean = false;
}
