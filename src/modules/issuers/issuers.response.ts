import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../platform/field-docs/field-docs.js';
import { RevisionedFields } from '../../platform/resources/item.response.js';

export class GroupMappingResponse {
  /** @example "engineering" */ value!: string;
  @ApiProperty(UUID) group_id!: string;
}

export class IssuerResponse extends RevisionedFields {
  /** @example "Acme" */ name!: string;
  /** @example "https://login.acme.example" */ issuer!: string;
  /** @example "workspace" */ client_id!: string;
  /** Whether a client secret is stored. The secret is never returned. @example true */ has_client_secret!: boolean;
  /** The redirect URI to register at the issuer. @example "https://workspace.example/apis/v1/oidc/callback/01890a5d-ac96-774b-bcce-b302099a8057" */
  redirect_uri!: string;
  @ApiProperty({ type: [String], example: ['openid', 'email', 'profile'] }) scopes!: string[];
  @ApiProperty({ type: [String], example: ['acme.example'] }) domains!: string[];
  /** @example "email" */ email_claim!: string;
  /** @example "name" */ name_claim!: string;
  @ApiProperty({ example: 'groups' }) groups_claim!: string | null;
  @ApiProperty({ type: [GroupMappingResponse], example: [] }) group_mappings!: GroupMappingResponse[];
  /** @example false */ trusts_email!: boolean;
  /** @example true */ creates_members!: boolean;
  @ApiProperty({ enum: ['member', 'admin'], example: 'member' }) default_role!: string;
  /** @example true */ links_accounts!: boolean;
  /** @example false */ required!: boolean;
  /** @example true */ enabled!: boolean;
  @ApiProperty(UUID) created_by!: string | null;
}

export class IssuerCheckResponse {
  /** @example true */ ok!: boolean;
  /** Code of the first problem; null without one. */
  @ApiProperty({
    type: String,
    nullable: true,
    enum: ['invalid_address', 'unreachable', 'too_large', 'invalid_metadata', 'unsupported', 'no_keys', null],
    example: null,
  })
  problem!: string | null;
  /** Description of the problem; null without one. */
  @ApiProperty({ example: null }) message!: string | null;
  @ApiProperty({ example: 'https://login.acme.example/authorize' }) authorization_endpoint!: string | null;
  @ApiProperty({ example: 'https://login.acme.example/token' }) token_endpoint!: string | null;
  /** Number of signing keys that the issuer publishes. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 2 }) keys!: number;
}

export class IssuerCheckEnvelope {
  check!: IssuerCheckResponse;
}
