import { ApiProperty } from '@nestjs/swagger';
import { FileUsageResponse } from '../../../platform/blobs/file-usage.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';

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
