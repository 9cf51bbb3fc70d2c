import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayNotEmpty, IsArray, IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { Distinct, Nullable } from '../../../platform/http/input.decorators.js';
import { type Scope, SCOPES } from './application-password-provider.js';

const TEN_YEARS = 10 * 366 * 86_400;

export class CreateApplicationPassword {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'Thunderbird on the laptop' })
  @Length(1, 255)
  @IsString()
  description!: string;

  /** Protocols that the program may use. Choose as few as possible. @example ["imap", "smtp"] */
  @ApiProperty({ enum: SCOPES, isArray: true })
  @Distinct()
  @IsIn(SCOPES, { each: true, message: `scopes must contain only ${SCOPES.join(', ')}` })
  @ArrayNotEmpty()
  @IsArray()
  scopes!: Scope[];

  /** Seconds until expiry. Default: no expiry. @example 2592000 */
  @ApiPropertyOptional({ type: 'integer', minimum: 60, maximum: TEN_YEARS })
  @Nullable()
  @Min(60)
  @Max(TEN_YEARS)
  @IsInt()
  ttl?: number | null;
}
