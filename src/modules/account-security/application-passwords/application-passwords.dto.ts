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

  @ApiProperty({
    enum: SCOPES,
    isArray: true,
    example: ['imap', 'smtp'],
    description: 'What the program may do with it; as little as it needs.',
  })
  @Distinct()
  @IsIn(SCOPES, { each: true, message: `scopes must be some of ${SCOPES.join(', ')}` })
  @ArrayNotEmpty()
  @IsArray()
  scopes!: Scope[];

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 60,
    maximum: TEN_YEARS,
    example: 2_592_000,
    description: 'Seconds until it expires; without, it does not.',
  })
  @Nullable()
  @Min(60)
  @Max(TEN_YEARS)
  @IsInt()
  ttl?: number | null;
}
