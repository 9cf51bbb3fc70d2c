import type { Config } from '../../config/config.js';
import type { TenantIssuer } from './issuers.schema.js';
import type { IssuerResponse } from './issuers.dto.js';

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
    client_id: row.client_id,
    has_client_secret: row.client_secret !== null,
    redirect_uri: redirectUriOf(config, row.id),
    scopes: row.scopes,
    domains: row.domains,
    email_claim: row.email_claim,
    name_claim: row.name_claim,
    groups_claim: row.groups_claim,
    group_mappings: row.group_mappings,
    trusts_email: row.trusts_email,
    creates_members: row.creates_members,
    default_role: row.default_role,
    links_accounts: row.links_accounts,
    required: row.is_required,
    enabled: row.is_enabled,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
