import { Module, type OnModuleInit } from '@nestjs/common';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { MEMBERSHIP_CHANGING, TenantsModule } from '../tenants/index.js';
import { PersonalErasures, PersonalErasureWorker } from './erasure/personal-erasures.js';
import { PersonalErasuresRepository } from './erasure/personal-erasures.repository.js';
import {
  ExportPersonalData,
  PersonalExportController,
  PersonalExportsService,
} from './personal-export.controller.js';
import { ExportArchives, PersonalExportWorker } from './personal-export.worker.js';
import { PersonalExportsRepository } from './personal-exports.repository.js';

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
