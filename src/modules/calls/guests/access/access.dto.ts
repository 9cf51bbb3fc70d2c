import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import { Optional } from '../../../../platform/http/input.decorators.js';
import { Email, GuestName } from '../guest-input.js';

export class RequestCode {
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' })
  @Email()
  email!: string;

  /** Language of the mail (BCP 47). Default: English. */
  @ApiPropertyOptional({ maxLength: 35, example: 'de' })
  @IsOptional()
  @MaxLength(35)
  @IsString()
  locale?: string;
}

/** Six digits. */
const Code = (): PropertyDecorator => Matches(/^\d{6}$/, { message: 'code must be six digits' });

export class ClaimInvite {
  @GuestName()
  name!: string;

  /** Required if the invite requires a code. */
  @ApiPropertyOptional({ format: 'email', maxLength: 254, example: 'gina@partner.example' })
  @Optional()
  @Email()
  email?: string;

  /** The code of the mail. */
  @ApiPropertyOptional({ pattern: '^\\d{6}$', example: '480215' })
  @Optional()
  @Code()
  @IsString()
  code?: string;
}

export class VerifyViewer {
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' })
  @Email()
  email!: string;

  @ApiProperty({ pattern: '^\\d{6}$', example: '480215' })
  @Code()
  @IsString()
  code!: string;
}

const TOKEN = { minLength: 1, maxLength: 200, example: `${'A'.repeat(63)}w` };

export class RenewSession {
  /** Of `claim`, or of the previous renewal. */
  @ApiProperty(TOKEN)
  @Length(1, 200)
  @IsString()
  guest_token!: string;
}

export class JoinLivestream {
  @ApiPropertyOptional({ minLength: 1, maxLength: 80, example: 'Gina Guest' })
  @Optional()
  @GuestName()
  name?: string;

  /** Of `livestream_verify`, or of an earlier join. */
  @ApiPropertyOptional(TOKEN)
  @Optional()
  @Length(1, 200)
  @IsString()
  viewer_token?: string;
}

export class StartCallSession {
  /** No camera. */
  @ApiPropertyOptional({ default: false, example: false })
  @IsOptional()
  @IsIn([true, false])
  audio_only?: boolean;
}
