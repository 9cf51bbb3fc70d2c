import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { TENANT_CLIENT_KINDS } from './tenant-clients.dto.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class TenantClientResponse {
  /** The `client_id` of OAuth. */
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** @example "Time sheets" */ name!: string;
  @ApiProperty({ enum: TENANT_CLIENT_KINDS, example: 'service' }) kind!: string;
  @ApiProperty({ type: [String], example: [] }) redirect_uris!: string[];
  @ApiProperty({ type: [String], example: [] }) post_logout_redirect_uris!: string[];
  /** Null: all. */
  @ApiProperty({ type: [String], nullable: true, example: null }) scopes!: string[] | null;
  /** Member of the workspace that a service acts as; null for other kinds. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) user_id!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) created_by!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) created_at!: string;
}

export class TenantClientEnvelope {
  client!: TenantClientResponse;
}

export class TenantClientSecretEnvelope extends TenantClientEnvelope {
  /** Returned only here; null for a public client. */
  @ApiProperty({ type: String, nullable: true, example: 'vT1p9kQ2Yb0sYQdDkq0m6cXlJrW8uG3hZ5nEo7aLwPc' })
  client_secret!: string | null;
}

export class TenantClientListEnvelope extends PageEnvelope {
  clients!: TenantClientResponse[];
}
