import { ApiProperty } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../platform/paging/page.response.js';

const TIME = '2026-11-21T09:30:00.000Z';
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const Time = (example: string | null = TIME) =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, example });

export class ScimTokenResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** @example "Microsoft Entra ID" */ name!: string;
  /** The user who created the token. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) created_by!: string | null;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  /** The last replacement of the secret. */
  @Time(null) rotated_at!: string | null;
  /** Null: the token does not end by itself. */
  @Time() expires_at!: string | null;
  /** The last use, exact to five minutes. */
  @Time() last_used_at!: string | null;
}

export class ScimTokenEnvelope {
  scim_token!: ScimTokenResponse;
}

export class ScimTokenListEnvelope extends WholeListEnvelope {
  scim_tokens!: ScimTokenResponse[];
}

export class ScimTokenSecretEnvelope extends ScimTokenEnvelope {
  /** The token for the identity provider. @example "AYkKXayWd0u8zrMCCZqAV7mZJ3m0P2p6hXcQe0v2h8m1r9d5s7w4t3k6" */
  secret!: string;
  /** The address for the identity provider. @example "https://work.example/apis/v1/scim/v2" */
  base_url!: string;
}
