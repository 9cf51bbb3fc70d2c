import { Module } from '@nestjs/common';
import { DirectoryBackfill } from './directory-backfill.js';
import { TenantAuditController } from './tenant-audit.controller.js';
import { TenantController } from './tenant.controller.js';
import { TenantProfileRepository } from './tenant-profile.repository.js';
import { TenantProfileService } from './tenant-profile.service.js';
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
