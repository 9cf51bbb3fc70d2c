import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsObject, IsOptional, Matches, Max, Min, ValidateNested } from 'class-validator';
import { MAX_LOGO_SIDE } from './tenant-logos.js';
import { Name, Nullable, Optional, WholeNumber } from '../../../platform/http/input.decorators.js';

export class BrandingInput {
  /** As #rrggbb; null removes it. @example "#2f80ed" */
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'primary_color must be #rrggbb' })
  primary_color?: string | null;
}

export class UpdateTenant {
  @Optional() @Name(200, { example: 'Demo Workspace' }) name?: string;

  @Optional()
  @ValidateNested()
  @Type(() => BrandingInput)
  @IsObject({ message: 'branding must be an object' })
  branding?: BrandingInput;
}

const SIZE = `size must be a whole number from 16 to ${MAX_LOGO_SIDE}`;

export class ReadLogo {
  /** Maximum of width and height in pixels. A smaller logo keeps its size. */
  @ApiPropertyOptional({ type: 'integer', minimum: 16, maximum: MAX_LOGO_SIDE, example: 128 })
  @IsOptional()
  @WholeNumber()
  @Min(16, { message: SIZE })
  @Max(MAX_LOGO_SIDE, { message: SIZE })
  @IsInt({ message: SIZE })
  size?: number;
}
