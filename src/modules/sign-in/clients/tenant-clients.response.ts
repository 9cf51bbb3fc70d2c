import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { TENANT_CLIENT_KINDS } from './tenant-clients.dto.js';

export class TenantClientResponse {
  /** The `client_id` of OAuth. */
  @ApiProperty(UUID) id!: string;
  /** @example "Time sheets" */ name!: string;
  @ApiProperty({ enum: TENANT_CLIENT_KINDS, example: 'service' }) kind!: string;
  @ApiProperty({ type: [String], example: [] }) redirect_uris!: string[];
  @ApiProperty({ type: [String], example: [] }) post_logout_redirect_uris!: string[];
  /** Null: all. */
  @ApiProperty({ type: [String], nullable: true, example: null }) scopes!: string[] | null;
  /** Member of the workspace that a service acts as; null for other kinds. */
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty(UUID) created_by!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
}

export class TenantClientEnvelope {
  client!: TenantClientResponse;
}

export class TenantClientSecretEnvelope extends TenantClientEnvelope {
  /** Returned only here; null for a public client. */
  @ApiProperty({ example: 'vT1p9kQ2Yb0sYQdDkq0m6cXlJrW8uG3hZ5nEo7aLwPc' }) client_secret!: string | null;
}

export class TenantClientListEnvelope extends PageEnvelope {
  clients!: TenantClientResponse[];
}
