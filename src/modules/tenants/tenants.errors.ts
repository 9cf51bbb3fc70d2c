import { defineError } from '../../platform/http/errors.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';

export const TenantErrors = {
  noLogo: defineError(404, 'not_found', 'The workspace has no logo.'),
  invalidImage: defineError(
    422,
    'invalid_image',
    'The logo must be a PNG, JPEG or WebP image of at most 2048 by 2048 pixels.',
  ),
  domainNotFound: defineError(404, 'not_found', 'The workspace has no such domain.'),
  restrictedByPolicy: defineError(
    403,
    'restricted_by_policy',
    'The policy of the workspace does not allow this.',
  ),
  requiredByPolicy: defineError(
    403,
    'required_by_policy',
    'The policy of a workspace requires a second factor.',
  ),
  domainNotVerified: defineError(
    409,
    'domain_not_verified',
    'The TXT record of the domain is missing or has another value.',
  ),
  memberErased: defineError(
    409,
    'member_erased',
    'The personal data of this member are erased; invite the user again.',
  ),
  domainTaken: defineError(409, 'domain_taken', 'Another workspace has verified the domain.'),
  tooManyDomains: defineError(
    422,
    'too_many_domains',
    `A workspace may have at most ${QUOTAS.workspace.domains} domains.`,
  ),
  issuersLockedOut: defineError(
    422,
    'issuers_locked_out',
    'The list contains no issuer of this deployment, so no member could sign in.',
  ),
  dnsUnavailable: defineError(503, 'dns_unavailable', 'The name servers do not respond; retry shortly.'),
} as const;
