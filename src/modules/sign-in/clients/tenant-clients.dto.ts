import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, MaxLength, ValidateBy } from 'class-validator';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { defineError } from '../../../platform/http/errors.js';
import { Distinct, Name, OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { API_SCOPE, OIDC_SCOPES } from '../model/oidc-scopes.js';
import { redirectUriProblem } from './client-uris.js';

const MAX_URIS = 20;
export const TENANT_CLIENT_KINDS = ['public', 'confidential', 'service'] as const;
const SCOPES = [...OIDC_SCOPES, API_SCOPE];

/** Redirect URIs, each absolute and of an allowed scheme. */
const RedirectUris = (): PropertyDecorator => (target, key) => {
  ValidateBy(
    {
      name: 'redirectUri',
      validator: {
        validate: (uri) => typeof uri === 'string' && redirectUriProblem(uri) === null,
        defaultMessage: () =>
          `each value in ${String(key)} must be https, http on a loopback address, or a scheme such as com.example.app, without a wildcard`,
      },
    },
    { each: true },
  )(target, key);
  MaxLength(2_000, { each: true })(target, key);
  IsString({ each: true })(target, key);
  ArrayMaxSize(MAX_URIS)(target, key);
  IsArray()(target, key);
};

export class CreateTenantClient {
  /** Shown on the sign-in page. */
  @Name(100, { example: 'Time sheets' }) name!: string;
  /** `public`: in a browser or on a phone; `confidential`: with a server; `service`: without a user. */
  @OneOf(TENANT_CLIENT_KINDS, { example: 'service' }) kind!: (typeof TENANT_CLIENT_KINDS)[number];

  /** Required, except for a service. */
  @ApiPropertyOptional({ type: [String], maxItems: MAX_URIS, example: [] })
  @Optional()
  @RedirectUris()
  redirect_uris: string[] = [];

  @ApiPropertyOptional({ type: [String], maxItems: MAX_URIS, example: [] })
  @Optional()
  @RedirectUris()
  post_logout_redirect_uris: string[] = [];

  /** Scopes that the client may request; default: all. A service has no scopes. */
  @ApiPropertyOptional({ type: [String], enum: SCOPES, example: ['openid', 'email'] })
  @Optional()
  @Distinct()
  @IsIn(SCOPES, { each: true })
  @ArrayMaxSize(SCOPES.length)
  @IsArray()
  scopes?: string[];

  /** Role of a service in the workspace. The caller must hold the permissions of the role. */
  @Optional() @OneOf(['member', 'admin'], { example: 'member' }) role: 'member' | 'admin' = 'member';
}

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

export const ClientErrors = {
  notFound: defineError(404, 'not_found', 'The workspace has no such client.'),
  withoutSecret: defineError(409, 'client_without_secret', 'A public client has no secret.'),
  tooManyClients: defineError(
    422,
    'too_many_clients',
    `A workspace may have at most ${QUOTAS.workspace.clients} clients.`,
  ),
} as const;
