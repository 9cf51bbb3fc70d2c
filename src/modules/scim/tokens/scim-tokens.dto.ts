import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { Name, Nullable } from '../../../platform/http/input.decorators.js';

export class CreateScimToken {
  @ApiProperty({ minLength: 1, maxLength: 100, example: 'Microsoft Entra ID' })
  @Name(100)
  name!: string;

  /** Days until the token ends; null or missing: it does not end by itself. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 3650, nullable: true, example: 365 })
  @Nullable()
  @Max(3650)
  @Min(1)
  @IsInt()
  expires_in_days?: number | null;
}
