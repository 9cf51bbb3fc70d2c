import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../../../config/config.js';
import { Audit, changes } from '../../../platform/audit/audit.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { TenantPolicies } from '../tenant-policies.js';
import { TenantErrors } from '../tenants.errors.js';
import { TENANT_POLICY_CHANGED } from '../tenants.hooks.js';
import { defaultPolicy, TenantPolicy } from '../tenants.schema.js';
import { TenantPolicyEnvelope, UpdateTenantPolicy } from './tenant-policy.dto.js';

/** The policy of a workspace, as its administrators read and change it. */
@Injectable()
export class TenantPolicyService {
  constructor(
    private readonly policies: TenantPolicies,
    private readonly hooks: TxHooks,
    private readonly audit: Audit,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  async read(tenantId: string): Promise<TenantPolicyEnvelope> {
    const policy = await rowsOf(this.db, TenantPolicy).one({ tenant_id: tenantId });
    return present(policy ?? defaultPolicy(tenantId));
  }

  /** Omitted fields stay unchanged. @throws ApiError 422 `issuers_locked_out` */
  async update(ctx: RequestContext, input: UpdateTenantPolicy): Promise<TenantPolicyEnvelope> {
    const { tenantId } = ctx;
    this.assertUsable(input.allowed_issuers ?? null);
    const after = await this.db.tx(async (tx) => {
      const rows = rowsOf(tx, TenantPolicy);
      await rows.insert({ tenant_id: tenantId });
      const before = (await rows.lock({ tenant_id: tenantId })) as TenantPolicy;
      const values = changed(before, input);
      const { before: old, after: wanted } = changes(valuesOf(before), valuesOf({ ...before, ...values }));
      if (Object.keys(wanted).length === 0) return before;
      const [written] = await rows.update({ tenant_id: tenantId }, { ...values, updated_at: () => 'now()' });
      const policy = written as TenantPolicy;
      await this.hooks.run(tx, TENANT_POLICY_CHANGED, { tenantId, sessionDays: policy.session_days });
      const data = { before: old, after: wanted };
      await this.audit.record(tx, ctx, {
        action: 'tenant.policy.updated',
        objectKind: 'tenant',
        objectId: tenantId,
        data,
      });
      return policy;
    });
    this.policies.forget(tenantId);
    return present(after);
  }

  /** A policy that accepts no issuer of the deployment would lock out the whole workspace. */
  private assertUsable(issuers: readonly string[] | null): void {
    const available = this.config.OIDC_ISSUER ?? 'local';
    if (issuers !== null && !issuers.includes(available)) throw TenantErrors.issuersLockedOut.with();
  }
}

function changed(before: TenantPolicy, input: UpdateTenantPolicy): Partial<TenantPolicy> {
  const { required, grace_days } = input.second_factor ?? {};
  const starts = required === true && !before.second_factor_required;
  const values: Partial<TenantPolicy> = {
    second_factor_required: required,
    second_factor_grace_days: grace_days,
    ...(starts && { second_factor_since: new Date() }),
    ...(required === false && { second_factor_since: null }),
    session_days: input.session_days,
    password_min_length: input.password_min_length,
    link_shares: input.link_shares,
    guest_invites: input.guest_invites,
    allowed_issuers: input.allowed_issuers,
    domain_join: input.domain_join,
    erase_after_days: input.erase_after_days,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function valuesOf(policy: TenantPolicy): Record<string, unknown> {
  const { second_factor: factor, updated_at: _, ...values } = present(policy).policy;
  return { second_factor_required: factor.required, second_factor_grace_days: factor.grace_days, ...values };
}

function present(policy: TenantPolicy): TenantPolicyEnvelope {
  return {
    policy: {
      second_factor: {
        required: policy.second_factor_required,
        grace_days: policy.second_factor_grace_days,
        required_since: policy.second_factor_since?.toISOString() ?? null,
      },
      session_days: policy.session_days,
      password_min_length: policy.password_min_length,
      link_shares: policy.link_shares,
      guest_invites: policy.guest_invites,
      allowed_issuers: policy.allowed_issuers,
      domain_join: policy.domain_join,
      erase_after_days: policy.erase_after_days,
      updated_at: policy.updated_at.getTime() === 0 ? null : policy.updated_at.toISOString(),
    },
  };
}

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
