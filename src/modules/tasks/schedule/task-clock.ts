import { Injectable, type OnModuleInit } from '@nestjs/common';
import { zoneYears } from './zone-rules.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { sweep, type Sweep } from '../../../platform/jobs/sweep.js';

const BATCH = 200;
/** Due tasks whose zones are read in advance. A task beyond them with another zone waits for the next run. */
const MAX_DUE = 20_000;

const remind: Sweep = workspace.statement(
  'tasks.send_reminders',
  `SELECT tasks_send_reminders($1, $2) AS count`,
  {
    reach: 'cell',
  },
);
const passDue: Sweep = workspace.statement('tasks.pass_due', `SELECT tasks_pass_due($1, $2) AS count`, {
  reach: 'cell',
});
const dueZones = workspace.statement<{ zone: string; first_year: number; last_year: number }>(
  'tasks.due_zones',
  `SELECT zone, first_year, last_year FROM tasks_due_zones($1)`,
  { reach: 'cell' },
);
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
    const due = await this.db.query(dueZones, [MAX_DUE]);
    const zones = Object.fromEntries(
      due.map(({ zone, first_year: from, last_year: to }) => [zone, zoneYears(zone, from - 1, to + 1)]),
    );
    return (await this.sweep(remind, [zones])) + (await this.sweep(passDue, [zones]));
  }

  /** @returns the number of purged tasks */
  async purge(): Promise<number> {
    return this.sweep(purgeDue);
  }

  private sweep(statement: Sweep, values: readonly unknown[] = []): Promise<number> {
    return sweep(this.db, statement, BATCH, (tx) => this.outbox.notice(tx), values);
  }
}
