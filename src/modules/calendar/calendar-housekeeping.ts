import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';

const BATCH = 200;
const DAY_MS = 86_400_000;
/** Cancelled events stay so long with their attendees. */
const CANCELLED_DAYS = 30;

const purge = workspace.statement<{ count: number }>(
  'calendar.purge',
  `SELECT calendar_purge($1, $2) AS count`,
  { reach: 'cell' },
);

const forget = workspace.statement<never>(
  'calendar.forget_tombstones',
  `SELECT calendar_forget_tombstones($1)`,
  { reach: 'cell' },
);

/** Deletes events that were cancelled long ago, and removals that every client has had the time to read. */
@Injectable()
export class CalendarHousekeeping implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'purge-cancelled-events',
      everySeconds: 3600,
      run: async () => void (await this.purge(new Date(Date.now() - CANCELLED_DAYS * DAY_MS))),
    });
    this.jobs.register({
      name: 'forget-calendar-removals',
      everySeconds: 3600,
      run: () => this.forget(new Date(Date.now() - this.config.FEED_RETENTION_DAYS * DAY_MS)),
    });
  }

  /** Deletes events that were deleted before this time. @returns their number */
  async purge(before: Date): Promise<number> {
    for (let total = 0; ;) {
      const count = await this.db.tx(async (tx) => (await tx.query(purge, [before, BATCH]))[0]?.count ?? 0);
      total += count;
      if (count < BATCH) return total;
    }
  }

  /** Deletes removals from before this time; older tokens expire. */
  async forget(before: Date): Promise<void> {
    await this.db.single((tx) => tx.query(forget, [before]));
  }
}
