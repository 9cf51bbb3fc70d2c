import { Module } from '@nestjs/common';
import { DirectoryBackfill } from './directory-backfill.js';
import { TenantAuditController, TenantAuditExport } from './audit/tenant-audit.controller.js';
import { DomainRecords } from './domains/domain-name.js';
import { TenantDomains } from './domains/tenant-domains.js';
import { TenantDomainsController } from './domains/tenant-domains.controller.js';
import { TenantFiles } from './files/tenant-files.service.js';
import { TenantFilesController } from './files/tenant-files.controller.js';
import { TenantPolicies } from './tenant-policies.js';
import { TenantPolicyController, TenantPolicyService } from './policy/tenant-policy.controller.js';
import { TenantController } from './profile/tenant.controller.js';
import { TenantLogos } from './profile/tenant-logos.js';
import { TenantLogosRepository, TenantProfileRepository } from './profile/tenant-profile.repository.js';
import { TenantProfileService } from './profile/tenant-profile.service.js';
import { MemberContent } from './member-content.js';
import { TenantsApi } from './tenants.api.js';
import { TenantsRepository } from './tenants.repository.js';
import { MembershipStatusRepository } from './membership-status.repository.js';
import { MembershipPersonalData } from './membership-personal-data.js';

@Module({
  controllers: [
    TenantController,
    TenantAuditController,
    TenantDomainsController,
    TenantFilesController,
    TenantPolicyController,
  ],
  providers: [
    MembershipPersonalData,
    TenantsRepository,
    MembershipStatusRepository,
    TenantsApi,
    MemberContent,
    TenantProfileRepository,
    TenantLogosRepository,
    TenantLogos,
    TenantProfileService,
    TenantAuditExport,
    DirectoryBackfill,
    DomainRecords,
    TenantDomains,
    TenantFiles,
    TenantPolicies,
    TenantPolicyService,
  ],
  exports: [TenantsApi, MemberContent, TenantProfileService, TenantDomains, TenantFiles, TenantPolicies],
})
export class TenantsModule {}
