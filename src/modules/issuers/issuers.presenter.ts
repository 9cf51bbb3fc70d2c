import type { Config } from '../../config/config.js';
import type { TenantIssuer } from './issuer.entity.js';
import type { IssuerResponse } from './issuers.response.js';

/** Path of the responses of issuers. Each issuer has its own, so that one issuer cannot pass on the code of another one. */
const ISSUER_CALLBACK_PATH = '/apis/v1/oidc/callback';

export const redirectUriOf = (config: Config, issuerId: string): string =>
  `${config.publicUrl}${ISSUER_CALLBACK_PATH}/${issuerId}`;

export function presentIssuer(row: TenantIssuer, config: Config): IssuerResponse {
  return {
    id: row.id,
    revision: row.revision,
    name: row.name,
    issuer: row.issuer,
    client_id: row.clientId,
    has_client_secret: row.clientSecret !== null,
    redirect_uri: redirectUriOf(config, row.id),
    scopes: row.scopes,
    domains: row.domains,
    email_claim: row.emailClaim,
    name_claim: row.nameClaim,
    groups_claim: row.groupsClaim,
    group_mappings: row.groupMappings,
    trusts_email: row.trustsEmail,
    creates_members: row.createsMembers,
    default_role: row.defaultRole,
    links_accounts: row.linksAccounts,
    required: row.isRequired,
    enabled: row.isEnabled,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
