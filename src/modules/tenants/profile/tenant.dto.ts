import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsObject, IsOptional, Matches, Max, Min, ValidateNested } from 'class-validator';
import { FileUsageResponse } from '../../../platform/blobs/file-usage.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { Name, Nullable, Optional, WholeNumber } from '../../../platform/http/input.decorators.js';
import { MAX_LOGO_SIDE } from './tenant-logos.js';

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

export class TenantDomainResponse {
  /** @example "demo.example" */ domain!: string;
  /** @example true */ verified!: boolean;
}

export class BrandingResponse {
  /** @example "#2f80ed" */ primary_color!: string | null;
  /**
   * Changes with the logo; requires the bearer token. Null without a logo.
   * @example "https://workspace.example/apis/v1/tenant/logo?v=0f343b0931126a20"
   */
  logo_url!: string | null;
}

export class TenantResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Demo Workspace" */ name!: string;
  /** @example "demo" */ slug!: string;
  domains!: TenantDomainResponse[];
  branding!: BrandingResponse;
  /** Features of this deployment. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'boolean' },
    example: { assistant: false, calls: false, docx_export: true, livestream: false, mail: false },
  })
  features!: Record<string, boolean>;
  /** Limits of requests; names contain the units. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { page_size_default: 50, page_size_max: 200, note_content_bytes: 2097152 },
  })
  limits!: Record<string, number>;
  /** The most objects that an account, a user, the workspace, or an item may have. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
    example: { user: { forms: 1_000, open_polls: 500 }, workspace: { groups: 500 } },
  })
  quotas!: Record<string, Record<string, number>>;
  /** In responses of `GET /tenant`. */
  files?: FileUsageResponse;
}

export class TenantEnvelope {
  tenant!: TenantResponse;
}
