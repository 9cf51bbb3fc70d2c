import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { workspace } from '../database/statement.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { IdempotentWrites } from './idempotency.js';

const forgetOld = workspace.statement<never>(
  'idempotency.forget_old',
  `DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`,
  { reach: 'cell' },
);

@Global()
@Module({ providers: [IdempotentWrites], exports: [IdempotentWrites] })
export class ConcurrencyModule implements OnModuleInit {
  constructor(private readonly jobs: PeriodicJobs) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'forget-idempotency-keys',
      everySeconds: 3600,
      statement: forgetOld,
    });
  }
}
