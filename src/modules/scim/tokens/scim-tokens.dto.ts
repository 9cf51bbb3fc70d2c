import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { IntegerFrom, Name, Nullable } from '../../../platform/http/input.decorators.js';
import { WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { defineError } from '../../../platform/http/errors.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';

export class CreateScimToken {
  @Name(100, { example: 'Microsoft Entra ID' }) name!: string;
  /** Days until the token ends; null or missing: it does not expire. */
  @Nullable() @IntegerFrom(1, 3650, { example: 365 }) expires_in_days?: number | null;
}

export class ScimTokenResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Microsoft Entra ID" */ name!: string;
  /** The user who created the token. */
  @ApiProperty(UUID) created_by!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** The last replacement of the secret. */
  @ApiProperty(NO_DATE_TIME) rotated_at!: string | null;
  /** Null: the token does not expire. */
  @ApiProperty(DATE_TIME) expires_at!: string | null;
  /** The last use, exact to five minutes. */
  @ApiProperty(DATE_TIME) last_used_at!: string | null;
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

/** Errors of the routes that manage tokens. Errors of the protocol are in `model/scim-reply.ts`. */
export const ScimErrors = {
  tokenNotFound: defineError(404, 'not_found', 'The workspace has no such SCIM token.'),
  tooManyTokens: defineError(
    422,
    'too_many_scim_tokens',
    `A workspace may have at most ${QUOTAS.workspace.scim_tokens} SCIM tokens.`,
  ),
} as const;
