import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { sweep, type Sweep } from '../../../platform/jobs/sweep.js';

const BATCH = 200;

const remind: Sweep = workspace.statement('tasks.remind', `SELECT tasks_remind($1) AS count`, {
  reach: 'cell',
});
const fallDue: Sweep = workspace.statement('tasks.fall_due', `SELECT tasks_fall_due($1) AS count`, {
  reach: 'cell',
});
const purgeDue: Sweep = workspace.statement('tasks.purge_due', `SELECT tasks_purge_due($1) AS count`, {
  reach: 'cell',
});

/** Periodic work: reminders, due dates, and the purge of the trash (TRASH_RETENTION_DAYS after deletion). */
@Injectable()
export class TaskClock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'remind-of-tasks', everySeconds: 10, run: () => this.tick() });
    this.jobs.register({ name: 'purge-trashed-tasks', everySeconds: 600, run: () => this.purge() });
  }

  /** Appends the events that are due. @returns their number */
  async tick(): Promise<number> {
    return (await this.sweep(remind)) + (await this.sweep(fallDue));
  }

  /** @returns the number of purged tasks */
  async purge(): Promise<number> {
    return this.sweep(purgeDue);
  }

  private sweep(statement: Sweep): Promise<number> {
    return sweep(this.db, statement, BATCH, (tx) => this.outbox.notice(tx));
  }
}
