export { TenantsApi } from './tenants.api.js';
export {
  ERASED_MEMBER_JOINING,
  MEMBER_EMAIL_CHANGED,
  MEMBERS_PROVISIONED,
  MEMBER_ROLES_SET,
  MEMBERSHIP_CHANGING,
  TENANT_POLICY_CHANGED,
  TENANT_PROVISIONED,
} from './tenants.hooks.js';
export { type ContentTransfer, MemberContent, RegisteredContent } from './member-content.js';
export { TenantsModule } from './tenants.module.js';
export type { MemberStatus } from './membership-status.repository.js';
export type { MemberRole } from './tenants.repository.js';
export { TenantProfileService } from './profile/tenant-profile.service.js';
export { foldWords } from './tenants.repository.js';
export { UpdateTenant } from './profile/tenant.dto.js';
export { TenantErrors } from './tenants.errors.js';
export { AsDomainName, domainOf, isInDomains } from './domains/domain-name.js';
export { TenantDomains } from './domains/tenant-domains.js';
export { TenantFiles } from './files/tenant-files.service.js';
export { TenantPolicies } from './tenant-policies.js';
