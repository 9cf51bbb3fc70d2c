import { defineError } from '../../platform/http/api-error.js';
import { resource } from '../../platform/resources/resource.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { IssuerResponse } from './issuers.response.js';

export const ISSUERS = resource({
  tag: 'tenant',
  name: 'issuer',
  path: 'tenant/issuers',
  item: IssuerResponse,
  notFound: 'The workspace has no such issuer.',
  revision: 'required',
});

export const IssuerErrors = {
  alreadyExists: defineError(409, 'already_exists', 'An issuer with this id exists.'),
  domainNotVerified: defineError(
    409,
    'domain_not_verified',
    'The workspace has not verified one of the domains.',
  ),
  domainBound: defineError(409, 'domain_bound', 'Another issuer of the workspace has one of the domains.'),
  tooManyIssuers: defineError(
    422,
    'too_many_issuers',
    `A workspace may have at most ${QUOTAS.workspace.issuers} issuers.`,
  ),
  noChanges: defineError(422, 'no_changes', 'The request changes nothing.'),
} as const;
