import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, Matches, ValidateNested } from 'class-validator';
import { Optional, Name, Nullable } from '../../../platform/http/input.decorators.js';

export class BrandingInput {
  /** As #rrggbb; null removes it. @example "#2f80ed" */
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'primary_color must be #rrggbb' })
  primary_color?: string | null;
}

export class UpdateTenant {
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Demo Workspace' })
  @Optional()
  @Name(200)
  name?: string;

  @Optional()
  @ValidateNested()
  @Type(() => BrandingInput)
  @IsObject({ message: 'branding must be an object' })
  branding?: BrandingInput;
}
