import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { inBatches, type Sweep, sweep } from '../../platform/jobs/sweep.js';

const BATCH = 200;
/** Tombstones that one statement deletes. */
const TOMBSTONES = 1_000;
const DAY_MS = 86_400_000;
/** Days for which cancelled events stay in the calendars of their attendees. */
const CANCELLED_DAYS = 30;

const purge = workspace.statement<{ count: number }>(
  'calendar.purge',
  `SELECT calendar_purge($1, $2) AS count`,
  { reach: 'cell' },
);

// Locks calendars before their tombstones, in the order of writers of events. Skips locked calendars; a later run handles them.
// Cursors below the deleted tombstones expire.
const forget: Sweep = workspace.statement(
  'calendar.forget_removals',
  `WITH old AS MATERIALIZED (
     SELECT tenant_id, calendar_id, event_id FROM entry_tombstones WHERE deleted_at < $2 ORDER BY deleted_at LIMIT $1),
   locked AS MATERIALIZED (
     SELECT tenant_id, id FROM calendars WHERE (tenant_id, id) IN (SELECT tenant_id, calendar_id FROM old)
      ORDER BY tenant_id, id FOR NO KEY UPDATE SKIP LOCKED),
   busy AS MATERIALIZED (
     SELECT tenant_id, id FROM calendars WHERE (tenant_id, id) IN (SELECT tenant_id, calendar_id FROM old)
     EXCEPT SELECT tenant_id, id FROM locked),
   forgotten AS (
     DELETE FROM entry_tombstones tombstone USING old
      WHERE tombstone.tenant_id = old.tenant_id AND tombstone.calendar_id = old.calendar_id
        AND tombstone.event_id = old.event_id AND tombstone.deleted_at < $2
        AND NOT EXISTS (SELECT FROM busy WHERE busy.tenant_id = old.tenant_id AND busy.id = old.calendar_id)
     RETURNING tombstone.tenant_id, tombstone.calendar_id, tombstone.change_seq),
   raised AS (
     UPDATE calendars SET floor_seq = greatest(floor_seq, highest.seq)
       FROM (SELECT tenant_id, calendar_id, max(change_seq) AS seq FROM forgotten GROUP BY 1, 2) highest
      WHERE calendars.tenant_id = highest.tenant_id AND calendars.id = highest.calendar_id)
   SELECT count(*)::int AS count FROM forgotten`,
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
      run: () => this.purge(new Date(Date.now() - CANCELLED_DAYS * DAY_MS)),
    });
    this.jobs.register({
      name: 'forget-calendar-removals',
      everySeconds: 3600,
      run: () => this.forget(new Date(Date.now() - this.config.FEED_RETENTION_DAYS * DAY_MS)),
    });
  }

  /** Purges events that were deleted before this time. @returns their number */
  async purge(before: Date): Promise<number> {
    return inBatches(BATCH, () =>
      this.db.tx(async (tx) => (await tx.query(purge, [before, BATCH]))[0]?.count ?? 0),
    );
  }

  /** Deletes tombstones from before this time. Sync tokens below them expire. */
  async forget(before: Date): Promise<void> {
    await sweep(this.db, forget, TOMBSTONES, undefined, [before]);
  }
}
