import { Module } from '@nestjs/common';
import { DirectoryBackfill } from './directory-backfill.js';
import { TenantAuditController } from './tenant-audit.controller.js';
import { TenantController } from './tenant.controller.js';
import { TenantProfileRepository } from './tenant-profile.repository.js';
import { TenantProfileService } from './tenant-profile.service.js';
import { TenantsApi } from './tenants.api.js';
import { TenantsRepository } from './tenants.repository.js';

@Module({
  controllers: [TenantController, TenantAuditController],
  providers: [
    TenantsRepository,
    TenantsApi,
    TenantProfileRepository,
    TenantProfileService,
    DirectoryBackfill,
  ],
  exports: [TenantsApi, TenantProfileService],
})
export class TenantsModule {}
