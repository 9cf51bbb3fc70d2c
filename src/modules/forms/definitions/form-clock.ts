import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { sweep, type Sweep } from '../../../platform/jobs/sweep.js';

const BATCH = 200;

const closeEnded: Sweep = workspace.statement('forms.close_ended', `SELECT forms_close_ended($1) AS count`, {
  reach: 'cell',
});

/** Reports the ends of the windows of forms, each once. */
@Injectable()
export class FormClock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forms.close-ended', everySeconds: 15, run: () => this.tick() });
  }

  /** @returns the number of windows that have ended since the last run */
  async tick(): Promise<number> {
    return sweep(this.db, closeEnded, BATCH, (tx) => this.outbox.notice(tx));
  }
}
