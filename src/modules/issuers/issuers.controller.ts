import { Body, Controller } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { RateLimited, type RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../platform/resources/operations.js';
import { AccessErrors } from '../access/index.js';
import { CreateIssuer, UpdateIssuer } from './issuers.dto.js';
import { IssuerErrors, ISSUERS } from './issuers.resource.js';
import { IssuerCheckEnvelope } from './issuers.response.js';
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
export class IssuersController {
  constructor(private readonly issuers: IssuersService) {}

  @ListOperation(ISSUERS, {
    summary: 'List the issuers by which members sign in',
    description: 'OpenID issuers of the workspace, oldest first; at most 10.',
  })
  @Requires('issuers.manage')
  list(@Ctx() ctx: RequestContext) {
    return this.issuers.list(ctx);
  }

  @CreateOperation(ISSUERS, {
    description:
      'Users with an address of the bound domains sign in by this issuer. Register `redirect_uri` of the response there; choose `id` yourself to know the URI before.',
    errors: [IssuerErrors.alreadyExists, IssuerErrors.tooManyIssuers, ...WRITE_ERRORS],
  })
  @Requires('issuers.manage')
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateIssuer) {
    return this.issuers.create(ctx, key, body);
  }

  @ReadOperation(ISSUERS, { description: 'With its domains and settings, without the client secret.' })
  @Requires('issuers.manage')
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.issuers.read(ctx, id);
  }

  @UpdateOperation(ISSUERS, {
    description: 'Only the given fields change. Sessions of a disabled issuer end within five seconds.',
    example: { enabled: false },
    errors: [IssuerErrors.noChanges, ...WRITE_ERRORS],
  })
  @Requires('issuers.manage')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateIssuer) body: Checked<UpdateIssuer>,
  ) {
    return this.issuers.update(ctx, id, expected, body);
  }

  @DeleteOperation(ISSUERS, {
    description: 'Its sessions end within five seconds. Accounts and memberships stay.',
  })
  @Requires('issuers.manage')
  delete(@Ctx() ctx: RequestContext, @Id() id: string, @Expected() expected: ExpectedRevision) {
    return this.issuers.delete(ctx, id, expected);
  }

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
    return this.issuers.check(ctx, id);
  }
}
