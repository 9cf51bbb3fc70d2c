import { Controller } from '@nestjs/common';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
import { AccessErrors } from '../access/index.js';
import { CreateIssuer, IssuerCheckEnvelope, IssuerErrors, ISSUERS, UpdateIssuer } from './issuers.dto.js';
import { IssuersService } from './issuers.service.js';

/** Each request reads from the issuer. */
const CHECK_LIMIT: RouteLimit = {
  scope: 'issuer-check',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

const WRITE_ERRORS = [
  IssuerErrors.domainNotVerified,
  IssuerErrors.domainBound,
  AccessErrors.cannotGrantUnheld,
  AccessErrors.unknownGroup,
];

@Controller(ISSUERS.options.path)
export class IssuersController extends ResourceController(ISSUERS, IssuersService, {
  requires: ['issuers.manage'],
  list: {
    summary: 'List the issuers by which members sign in',
    description: 'OpenID issuers of the workspace, oldest first; at most 10.',
  },
  create: {
    body: CreateIssuer,
    description:
      'Users with an address of the bound domains sign in by this issuer. Register `redirect_uri` of the response at the issuer. To know the URI in advance, choose `id` yourself.',
    errors: [IssuerErrors.alreadyExists, IssuerErrors.tooManyIssuers, ...WRITE_ERRORS],
  },
  read: { description: 'With its domains and settings, without the client secret.' },
  update: {
    body: UpdateIssuer,
    description: 'Only the given fields change. Sessions of a disabled issuer end within five seconds.',
    example: { enabled: false },
    errors: [IssuerErrors.noChanges, ...WRITE_ERRORS],
  },
  delete: { description: 'Its sessions end within five seconds. Accounts and memberships stay.' },
}) {
  @Endpoint('POST :id/check', {
    tag: 'tenant',
    id: 'checkIssuer',
    summary: 'Check an issuer',
    description: 'Reads its discovery document and keys now, and reports the first problem.',
    status: 200,
    response: [IssuerCheckEnvelope, 'The result of the check.'],
    errors: [ISSUERS.notFound, Errors.tooManyRequests],
  })
  @Requires('issuers.manage')
  @RateLimited(CHECK_LIMIT)
  check(@Ctx() ctx: RequestContext, @Id() id: string): Promise<IssuerCheckEnvelope> {
    return this.service.check(ctx, id);
  }
}
