import { Module, type OnModuleInit } from '@nestjs/common';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { MEMBERSHIP_CHANGING, TenantsModule } from '../tenants/index.js';
import { PersonalErasureWorker } from './erasure/personal-erasure.worker.js';
import { PersonalErasures } from './erasure/personal-erasures.js';
import { PersonalErasuresRepository } from './erasure/personal-erasures.repository.js';
import { ExportPersonalData } from './export-personal-data.js';
import { ExportArchives } from './export-archives.js';
import { PersonalExportController } from './personal-export.controller.js';
import { PersonalExportWorker } from './personal-export.worker.js';
import { PersonalExportsRepository } from './personal-exports.repository.js';
import { PersonalExportsService } from './personal-exports.service.js';

/** Exports and erasures of personal data. */
@Module({
  imports: [AccountSecurityModule, TenantsModule],
  controllers: [PersonalExportController],
  providers: [
    PersonalExportsRepository,
    PersonalExportsService,
    PersonalExportWorker,
    ExportArchives,
    ExportPersonalData,
    PersonalErasuresRepository,
    PersonalErasureWorker,
    PersonalErasures,
  ],
})
export class PersonalExportsModule implements OnModuleInit {
  constructor(
    private readonly exports: PersonalExportsService,
    private readonly hooks: TxHooks,
  ) {}

  onModuleInit(): void {
    this.hooks.on(MEMBERSHIP_CHANGING, async (tx, { userId, tenantId, status }) => {
      if (status === 'deactivated') await this.exports.remove(tx, { tenantId, userId });
    });
  }
}
