import { ApiProperty } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class TenantDomainResponse {
  @ApiProperty({ example: 'demo.example' }) domain!: string;
  @ApiProperty({ example: true }) verified!: boolean;
}

export class BrandingResponse {
  @ApiProperty({ type: String, nullable: true, example: '#2f80ed' }) primary_color!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'https://workspace.example/apis/v1/tenant/logo?v=0f343b0931126a20',
    description: 'Changes with the picture; takes the bearer token. Null: no logo.',
  })
  logo_url!: string | null;
}

export class TenantResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Demo Workspace' }) name!: string;
  @ApiProperty({ example: 'demo' }) slug!: string;
  @ApiProperty({ type: [TenantDomainResponse] }) domains!: TenantDomainResponse[];
  @ApiProperty({ type: BrandingResponse }) branding!: BrandingResponse;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'boolean' },
    example: { assistant: false, calls: false, docx_export: true, livestream: false, mail: false },
    description: 'What this deployment offers.',
  })
  features!: Record<string, boolean>;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { page_size_default: 50, page_size_max: 200, note_content_bytes: 2097152 },
    description: 'What clients should respect before they send; units are in the names.',
  })
  limits!: Record<string, number>;
}

export class TenantEnvelope {
  @ApiProperty({ type: TenantResponse }) tenant!: TenantResponse;
}
