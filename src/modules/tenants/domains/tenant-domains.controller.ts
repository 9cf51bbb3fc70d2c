import { Body, Controller, Param } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { TenantErrors } from '../tenants.errors.js';
import { AddTenantDomain, TenantDomainEnvelope, TenantDomainListEnvelope } from './tenant-domains.dto.js';
import { TenantDomains } from './tenant-domains.js';

/** Each request queries name servers. */
const DNS_LIMIT: RouteLimit = {
  scope: 'domain-verification',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

const ApiDomain = () =>
  ApiParam({
    name: 'domain',
    description: 'A domain of the workspace.',
    schema: { type: 'string', maxLength: 253, example: 'demo.example' },
  });

@ApiTags('tenant')
@Controller('tenant/domains')
export class TenantDomainsController {
  constructor(private readonly domains: TenantDomains) {}

  @Endpoint('GET', {
    id: 'listTenantDomains',
    summary: 'List the domains of the workspace and their TXT records',
    description: 'Verified domains and those that still wait for their TXT record.',
    response: [TenantDomainListEnvelope, 'The domains, by name.'],
  })
  @Requires('tenant.read', 'tenant.manage')
  async list(@Ctx() ctx: RequestContext): Promise<TenantDomainListEnvelope> {
    return { domains: await this.domains.list(ctx.tenantId), next: null };
  }

  @Endpoint('POST', {
    id: 'addTenantDomain',
    summary: 'Add a domain',
    description:
      'Publish the TXT record of the response, then verify the domain. A domain that the workspace already has is returned unchanged.',
    status: 201,
    response: [TenantDomainEnvelope, 'The domain with its TXT record.'],
    errors: [TenantErrors.tooManyDomains],
  })
  @Requires('tenant.manage')
  async add(@Ctx() ctx: RequestContext, @Body() body: AddTenantDomain): Promise<TenantDomainEnvelope> {
    return { domain: await this.domains.add(ctx, body.domain) };
  }

  @Endpoint('POST :domain/verify', {
    id: 'verifyTenantDomain',
    summary: 'Verify a domain by its TXT record',
    description: 'A verified domain belongs to one workspace. A verified domain is returned unchanged.',
    status: 200,
    response: [TenantDomainEnvelope, 'The verified domain.'],
    errors: [
      TenantErrors.domainNotFound,
      TenantErrors.domainNotVerified,
      TenantErrors.domainTaken,
      TenantErrors.dnsUnavailable,
      Errors.tooManyRequests,
    ],
  })
  @ApiDomain()
  @Requires('tenant.manage')
  @RateLimited(DNS_LIMIT)
  async verify(@Ctx() ctx: RequestContext, @Param('domain') domain: string): Promise<TenantDomainEnvelope> {
    return { domain: await this.domains.verify(ctx, domain) };
  }

  @Endpoint('DELETE :domain', {
    id: 'removeTenantDomain',
    summary: 'Remove a domain',
    description: 'Members whose address is in the domain stay.',
    response: [TenantDomainEnvelope, 'The removed domain.'],
    errors: [TenantErrors.domainNotFound],
  })
  @ApiDomain()
  @Requires('tenant.manage')
  async remove(@Ctx() ctx: RequestContext, @Param('domain') domain: string): Promise<TenantDomainEnvelope> {
    return { domain: await this.domains.remove(ctx, domain) };
  }
}
