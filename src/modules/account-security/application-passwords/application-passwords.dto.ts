import { ApiProperty } from '@nestjs/swagger';
import { ArrayNotEmpty, IsArray, IsIn } from 'class-validator';
import { Distinct, IntegerFrom, Nullable, Text, Visible } from '../../../platform/http/input.decorators.js';
import { type Scope, SCOPES } from './application-password-provider.js';

const TEN_YEARS = 10 * 366 * 86_400;

export class CreateApplicationPassword {
  @Visible() @Text(255, { minLength: 1, example: 'Thunderbird on the laptop' }) description!: string;

  /** Protocols that the program may use. Choose as few as possible. @example ["imap", "smtp"] */
  @ApiProperty({ enum: SCOPES, isArray: true })
  @Distinct()
  @IsIn(SCOPES, { each: true, message: `scopes must contain only ${SCOPES.join(', ')}` })
  @ArrayNotEmpty()
  @IsArray()
  scopes!: Scope[];

  /** Seconds until expiry. Default: no expiry. */
  @Nullable() @IntegerFrom(60, TEN_YEARS, { example: 2592000 }) ttl?: number | null;
}
