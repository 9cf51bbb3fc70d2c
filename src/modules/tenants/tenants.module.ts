import { Module } from '@nestjs/common';
import { DirectoryBackfill } from './directory-backfill.js';
import { TenantAuditController } from './audit/tenant-audit.controller.js';
import { TenantController } from './profile/tenant.controller.js';
import { TenantProfileRepository } from './profile/tenant-profile.repository.js';
import { TenantProfileService } from './profile/tenant-profile.service.js';
import { MemberContent } from './member-content.js';
import { TenantsApi } from './tenants.api.js';
import { TenantsRepository } from './tenants.repository.js';

@Module({
  controllers: [TenantController, TenantAuditController],
  providers: [
    TenantsRepository,
    TenantsApi,
    MemberContent,
    TenantProfileRepository,
    TenantProfileService,
    DirectoryBackfill,
  ],
  exports: [TenantsApi, MemberContent, TenantProfileService],
})
export class TenantsModule {}
