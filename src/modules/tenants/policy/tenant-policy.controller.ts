import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { TenantErrors } from '../tenants.errors.js';
import { UpdateTenantPolicy } from './tenant-policy.dto.js';
import { TenantPolicyEnvelope } from './tenant-policy.response.js';
import { TenantPolicyService } from './tenant-policy.service.js';

@ApiTags('tenant')
@Controller('tenant/policy')
export class TenantPolicyController {
  constructor(private readonly policies: TenantPolicyService) {}

  @Endpoint('GET', {
    id: 'readTenantPolicy',
    summary: 'Read the policy of the workspace',
    description:
      'The rules for sign-in, passwords, sessions and sharing of all members. Null: the default of the deployment applies.',
    response: [TenantPolicyEnvelope, 'The policy.'],
  })
  @Requires('tenant.read', 'tenant.policy')
  read(@Ctx() ctx: RequestContext): Promise<TenantPolicyEnvelope> {
    return this.policies.read(ctx.tenantId);
  }

  @Endpoint('PUT', {
    id: 'updateTenantPolicy',
    summary: 'Change the policy of the workspace',
    description:
      'Omitted fields stay unchanged. A change takes effect within five seconds. After the grace time, members without a second factor can only enable one; they cannot disable it while the policy requires it.',
    response: [TenantPolicyEnvelope, 'The updated policy.'],
    errors: [TenantErrors.issuersLockedOut],
  })
  @Requires('tenant.policy')
  update(@Ctx() ctx: RequestContext, @Body() body: UpdateTenantPolicy): Promise<TenantPolicyEnvelope> {
    return this.policies.update(ctx, body);
  }
}
