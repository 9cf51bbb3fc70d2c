import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { OneOf, Optional, Text } from '../../../../platform/http/input.decorators.js';
import { Email, GuestName } from '../model/guest-input.js';

export class RequestCode {
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' }) @Email() email!: string;
  /** Language of the mail (BCP 47). Default: English. */
  @IsOptional() @Text(35, { example: 'de' }) locale?: string;
}

/** Six digits. */
const Code = (): PropertyDecorator => Matches(/^\d{6}$/, { message: 'code must be six digits' });

export class ClaimInvite {
  @GuestName() name!: string;

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
  @ApiProperty({ format: 'email', maxLength: 254, example: 'gina@partner.example' }) @Email() email!: string;
  @ApiProperty({ pattern: '^\\d{6}$', example: '480215' }) @Code() @IsString() code!: string;
}

const TOKEN = { minLength: 1, maxLength: 200, example: `${'A'.repeat(63)}w` };

export class RenewSession {
  /** The token of `claim`, or of the previous renewal. */
  @Text(200, { ...TOKEN, minLength: 1 }) guest_token!: string;
}

export class JoinLivestream {
  @ApiPropertyOptional({ minLength: 1, maxLength: 80, example: 'Gina Guest' })
  @Optional()
  @GuestName()
  name?: string;

  /** The token of `livestream_verify`, or of an earlier join. */
  @Optional() @Text(200, { ...TOKEN, minLength: 1 }) viewer_token?: string;
}

export class StartCallSession {
  /** Join without a camera. */
  @IsOptional() @OneOf([true, false], { default: false, example: false }) audio_only?: boolean;
}
