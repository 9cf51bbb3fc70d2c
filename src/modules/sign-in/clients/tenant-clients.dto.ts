import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, MaxLength, ValidateBy } from 'class-validator';
import { Distinct, Name, OneOf, Optional } from '../../../platform/http/input.decorators.js';
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
