import {
  Global,
  Injectable,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Summary } from 'prom-client';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { cutText } from '../../lib/text/index.js';
import { outsideRequests } from '../current-work/current-work.js';
import { Db, MAIN } from '../database/db.js';
import { either } from '../database/statement.js';
import { Metrics, MetricsModule } from '../observability/metrics.js';
import { type Sweep, sweep } from './sweep.js';

@Entity('job_runs')
export class JobRun {
  @PrimaryColumn('text') name!: string;
  @Column('timestamptz') ran_at!: Date;
  @Column('int', { nullable: true }) every_seconds!: number | null;
  @Column('timestamptz', { nullable: true }) succeeded_at!: Date | null;
  @Column('timestamptz', { nullable: true }) failed_at!: Date | null;
  @Column('text', { nullable: true }) error!: string | null;
}

/**
 * The queues of work without a request: periodic jobs and events of the outbox. A process does the work of a queue one after the
 * other. Work that waits for another server has the queue of that server, so that a slow server delays no other work.
 *
 * `local`: the database only. `relay`: mails of the workspace itself. `mail`: the mail service of the users. `calls`: the media server.
 * `files`: the blob store.
 */
export const WORK_QUEUES = ['local', 'relay', 'mail', 'calls', 'files'] as const;

export type WorkQueue = (typeof WORK_QUEUES)[number];

/** Times in seconds since 1970. */
interface LastRun extends Pick<JobRun, 'name' | 'every_seconds'> {
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

interface PeriodicJob {
  /** Unique; the same in every process. */
  name: string;
  everySeconds: number;
  /** Whether the job uses the directory only. It then runs once instead of in each cell. */
  ofDirectory?: boolean;
  /** Default: `local`. */
  queue?: WorkQueue;
  run(): Promise<unknown>;
}

/** A job that deletes rows in batches, in the databases that have the table. */
interface DeletionJob extends Omit<PeriodicJob, 'run' | 'ofDirectory'> {
  deletes: Sweep;
}

/** The work of a queue in this process. */
interface Work {
  isDue: boolean;
  readonly triggered: Set<PeriodicJob>;
  running?: Promise<void> | undefined;
}

const CHECK_MS = 15_000;
/** Rows of one statement of a {@link DeletionJob}: statements have a time limit. */
const DELETED_AT_ONCE = 5_000;
/** Characters of an error that the table keeps. */
const MAX_ERROR = 500;

// A last run in the future means that the clock was set back.
const claim = either.statement<Pick<JobRun, 'name'>>(
  'jobs.claim',
  `INSERT INTO job_runs AS job (name, ran_at, every_seconds) VALUES ($1, now(), $2)
   ON CONFLICT (name) DO UPDATE SET ran_at = now(), every_seconds = $2
    WHERE job.ran_at <= now() - make_interval(secs => $2) OR job.ran_at > now() + interval '1 minute'
   RETURNING name`,
  { reach: 'cell' },
);

/** Inserts too, because a triggered job may have no row yet. */
const succeeded = either.statement<never>(
  'jobs.succeeded',
  `INSERT INTO job_runs AS job (name, ran_at, every_seconds, succeeded_at) VALUES ($1, now(), $2, now())
   ON CONFLICT (name) DO UPDATE SET succeeded_at = now(), failed_at = NULL, error = NULL`,
  { reach: 'cell' },
);

const failed = either.statement<never>(
  'jobs.failed',
  `INSERT INTO job_runs AS job (name, ran_at, every_seconds, failed_at, error) VALUES ($1, now(), $2, now(), $3)
   ON CONFLICT (name) DO UPDATE SET failed_at = now(), error = excluded.error`,
  { reach: 'cell' },
);

/**
 * Runs maintenance jobs at intervals, each job in one process at a time unless it takes longer than its interval. A process runs the
 * jobs of a queue one after the other. Where workspaces are in several databases, a job runs in each of these cells, for the
 * workspaces there; a job of the directory runs once.
 */
@Injectable()
export class PeriodicJobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(PeriodicJobs.name);
  private readonly jobs: PeriodicJob[] = [];
  private readonly works = new Map(
    WORK_QUEUES.map((queue): [WorkQueue, Work] => [queue, { isDue: false, triggered: new Set() }]),
  );
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly db: Db,
    private readonly metrics: JobMetrics,
  ) {}

  register(job: PeriodicJob | DeletionJob): void {
    if ('run' in job) this.jobs.push(job);
    else
      this.jobs.push({
        ...job,
        ofDirectory: job.deletes.home === 'directory',
        run: () => sweep(this.db, job.deletes, DELETED_AT_ONCE),
      });
  }

  onApplicationBootstrap(): void {
    this.stopped = false;
    this.timer = setInterval(() => {
      for (const [queue, work] of this.works) {
        work.isDue = true;
        this.start(queue, work);
      }
    }, CHECK_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Runs a job in the background before its interval has passed, after the jobs of its queue that run now. */
  trigger(name: string): void {
    const job = this.jobs.find((each) => each.name === name);
    if (!job || this.stopped) return;
    const queue = queueOf(job);
    const work = this.works.get(queue) as Work;
    work.triggered.add(job);
    this.start(queue, work);
  }

  /** Stops the timer and {@link trigger}, and waits for running jobs. {@link runDue} still works. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    for (const { running } of this.works.values()) await running;
  }

  /** Runs the jobs that are due and not claimed by another process, in all queues and cells at the same time. */
  async runDue(): Promise<void> {
    await Promise.all(WORK_QUEUES.map((queue) => this.runDueOf(queue)));
  }

  /** Works through a queue, unless that is in progress. */
  private start(queue: WorkQueue, work: Work): void {
    if (this.stopped || work.running) return;
    // It runs later, so that a job that triggers another one finds the queue running.
    work.running = outsideRequests(() => Promise.resolve().then(() => this.workThrough(queue, work)));
  }

  private async workThrough(queue: WorkQueue, work: Work): Promise<void> {
    // Due jobs run after each round of triggered jobs, so a job that triggers itself does not block them.
    while (!this.stopped && (work.isDue || work.triggered.size > 0)) {
      const { isDue } = work;
      const triggered = [...work.triggered];
      work.isDue = false;
      work.triggered.clear();
      for (const job of triggered) await this.runNow(job);
      if (isDue) await this.runDueOf(queue);
    }
    // No `await` since the last check, so that no trigger is lost.
    work.running = undefined;
  }

  private async runNow(job: PeriodicJob): Promise<void> {
    if (this.stopped) return;
    const run = () => this.run(job);
    const done = job.ofDirectory ? this.db.inCell(MAIN, run) : this.db.inEachCell(run);
    await done.catch((error: unknown) => this.notRecorded(job, error));
  }

  private async runDueOf(queue: WorkQueue): Promise<void> {
    const jobs = this.jobs.filter((job) => queueOf(job) === queue);
    await Promise.all(this.db.cells.map((cell) => this.db.inCell(cell, () => this.runDueIn(cell, jobs))));
  }

  private async runDueIn(cell: string, jobs: readonly PeriodicJob[]): Promise<void> {
    for (const job of jobs) {
      if (job.ofDirectory && cell !== MAIN) continue;
      try {
        const [won] = await this.db.single((tx) => tx.query(claim, [job.name, job.everySeconds]));
        if (won) await this.run(job);
      } catch (error) {
        this.notRecorded(job, error);
      }
    }
  }

  /** Runs a job and records its outcome. @throws Error when the outcome cannot be recorded */
  private async run(job: PeriodicJob): Promise<void> {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      await job.run();
    } catch (error) {
      this.logger.warn({ err: error, job: job.name }, 'job failed; it will run again at its next interval');
      this.metrics.observe(job.name, 'failed', seconds());
      const text = cutText(String(error), MAX_ERROR);
      await this.db.single((tx) => tx.query(failed, [job.name, job.everySeconds, text]));
      return;
    }
    this.metrics.observe(job.name, 'succeeded', seconds());
    await this.db.single((tx) => tx.query(succeeded, [job.name, job.everySeconds]));
  }

  private notRecorded({ name }: PeriodicJob, error: unknown): void {
    this.logger.warn({ err: error, job: name }, 'the run of a job cannot be claimed or recorded');
  }
}

const queueOf = ({ queue = 'local' }: PeriodicJob): WorkQueue => queue;

@Global()
@Module({ imports: [MetricsModule], providers: [JobMetrics, PeriodicJobs], exports: [PeriodicJobs] })
export class JobsModule {}
