import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Summary } from 'prom-client';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { Metrics } from '../observability/metrics.js';

/** Times in seconds since 1970. */
interface LastRun {
  name: string;
  every_seconds: number | null;
  succeeded: number | null;
  failed: number | null;
}

const lastRuns = either.statement<LastRun>(
  'jobs.last_runs',
  `SELECT name, every_seconds, extract(epoch FROM succeeded_at)::float8 AS succeeded,
          extract(epoch FROM failed_at)::float8 AS failed FROM job_runs`,
  { reach: 'cell' },
);

/** Prometheus metrics of the periodic jobs: the runs of this process, and the last run of each job in any process. */
@Injectable()
export class JobMetrics implements OnModuleInit {
  private readonly runs: Summary<'name' | 'outcome'>;

  constructor(
    private readonly metrics: Metrics,
    private readonly db: Db,
  ) {
    this.runs = new Summary({
      name: 'job_run_seconds',
      help: 'Number and duration of the runs of periodic jobs. Outcome: succeeded, failed.',
      // Prometheus itself uses the label `job`.
      labelNames: ['name', 'outcome'],
      percentiles: [],
      registers: [metrics.registry],
    });
  }

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        job_last_success_timestamp_seconds: 'Time of the last successful run of a periodic job.',
        job_last_failure_timestamp_seconds: 'Time of the last failed run of a periodic job.',
        job_interval_seconds: 'Time between two runs of a periodic job.',
      },
      labelNames: ['name'],
      read: async () => worstRuns(await this.db.inReachableCells(() => this.db.queryAlways(lastRuns, []))),
    });
  }

  /** Records the end of a run. */
  observe(name: string, outcome: 'succeeded' | 'failed', seconds: number): void {
    this.runs.observe({ name, outcome }, seconds);
  }
}

/** The oldest success and the newest failure of each job in all cells. */
function worstRuns(cells: readonly LastRun[][]) {
  return [...Map.groupBy(cells.flat(), ({ name }) => name)].map(([name, runs]) => {
    const times = (key: 'succeeded' | 'failed') =>
      runs.flatMap((run) => (run[key] === null ? [] : [run[key]]));
    const [succeeded, failed] = [times('succeeded'), times('failed')];
    return {
      labels: { name },
      values: {
        job_last_success_timestamp_seconds: succeeded.length > 0 ? Math.min(...succeeded) : undefined,
        job_last_failure_timestamp_seconds: failed.length > 0 ? Math.max(...failed) : undefined,
        job_interval_seconds: runs[0]?.every_seconds ?? undefined,
      },
    };
  });
}
