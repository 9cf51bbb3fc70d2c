import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { AuditPersonalData } from './audit-personal-data.js';
import { AuditReader } from './audit-reader.js';
import { Audit } from './audit.js';

const forgetOld = either.statement<never>(
  'audit.forget_old',
  `DELETE FROM audit_log WHERE occurred_at < now() - make_interval(days => $1)`,
  { reach: 'cell' },
);

@Global()
@Module({ providers: [Audit, AuditReader, AuditPersonalData], exports: [Audit, AuditReader] })
export class AuditModule implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const run = async () =>
      void (await this.db.single((tx) => tx.query(forgetOld, [this.config.AUDIT_RETENTION_DAYS])));
    this.jobs.register({ name: 'forget-old-audit-log', everySeconds: 3600, run });
  }
}
