import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type ZoneYears, zoneYears } from './zone-rules.js';
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

/** A task whose date lies in the future, with the year of its date. */
interface ComingTask {
  tenant_id: string;
  id: string;
  next_due_at: string;
  zone: string;
  year: number;
}

const START = ['-infinity', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'];

// Index tasks_due. Rules change before tasks of later years are due: a later run reads these.
const coming = workspace.statement<ComingTask>(
  'tasks.coming',
  `SELECT tenant_id, id, next_due_at::text AS next_due_at, time_zone AS zone, extract(year FROM date)::int AS year FROM tasks
    WHERE next_due_at > now() AND next_due_at < now() + interval '2 years' AND time_zone <> 'UTC'
      AND next_due_at >= $1::timestamptz AND (next_due_at, tenant_id, id) > ($1::timestamptz, $2::uuid, $3::uuid)
    ORDER BY next_due_at, tenant_id, id LIMIT $4`,
  { reach: 'cell' },
);
const follow = workspace.statement<{ count: number }>(
  'tasks.follow_zones',
  `SELECT tasks_follow_zones($1, $2, $3) AS count`,
  { reach: 'cell' },
);

/** Periodic work: reminders, due dates, changed rules of time zones, and the purge of the trash (TRASH_RETENTION_DAYS after deletion). */
@Injectable()
export class TaskClock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'remind-of-tasks', everySeconds: 10, run: () => this.tick() });
    this.jobs.register({ name: 'follow-time-zones', everySeconds: 86_400, run: () => this.followZones() });
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

  /**
   * Computes the moments of coming tasks by the rules of this Node, which an update may have changed (adr/0065).
   * @returns the number of tasks that changed
   */
  async followZones(): Promise<number> {
    let total = 0;
    for (let after: readonly string[] = START; ;) {
      const tasks = await this.db.query(coming, [...after, BATCH]);
      const last = tasks.at(-1);
      if (!last) return total;
      const [row] = await this.db.single((tx) =>
        tx.query(follow, [
          tasks.map(({ tenant_id }) => tenant_id),
          tasks.map(({ id }) => id),
          zonesOf(tasks),
        ]),
      );
      total += row?.count ?? 0;
      after = [last.next_due_at, last.tenant_id, last.id];
    }
  }

  /** @returns the number of purged tasks */
  async purge(): Promise<number> {
    return this.sweep(purgeDue);
  }

  private sweep(statement: Sweep, values: readonly unknown[] = []): Promise<number> {
    return sweep(this.db, statement, BATCH, (tx) => this.outbox.notice(tx), values);
  }
}

/** The rules of the zones of tasks for the years of their dates. */
function zonesOf(tasks: readonly ComingTask[]): ZoneYears {
  const zones: ZoneYears = {};
  for (const [zone, those] of Map.groupBy(tasks, (task) => task.zone)) {
    const years = those.map(({ year }) => year);
    zones[zone] = zoneYears(zone, Math.min(...years) - 1, Math.max(...years) + 1);
  }
  return zones;
}
