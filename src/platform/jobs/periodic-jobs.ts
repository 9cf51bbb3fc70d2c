import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db, MAIN } from '../database/db.js';
import { either, type Statement } from '../database/statement.js';
import { JobMetrics } from './job-metrics.js';

interface PeriodicJob {
  /** Unique; the same in every process. */
  name: string;
  everySeconds: number;
  /** Whether it works on rows of the directory only: it runs once, and not in each cell. */
  ofDirectory?: boolean;
  run(): Promise<unknown>;
}

/** A job of one statement, e.g. the deletion of expired rows. It runs where the tables of the statement are. */
interface StatementJob extends Omit<PeriodicJob, 'run' | 'ofDirectory'> {
  statement: Statement<never>;
}

const CHECK_MS = 15_000;
/** Characters of an error that the table keeps. */
const MAX_ERROR = 500;

const claim = either.statement<{ name: string }>(
  'jobs.claim',
  `INSERT INTO job_runs AS job (name, ran_at, every_seconds) VALUES ($1, now(), $2)
   ON CONFLICT (name) DO UPDATE SET ran_at = now(), every_seconds = $2
    WHERE job.ran_at <= now() - make_interval(secs => $2)
   RETURNING name`,
  { reach: 'cell' },
);

/** A job that was triggered may have no row yet. */
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
 * Runs maintenance jobs at intervals, each job in one process at a time. Where workspaces are in several databases, a job runs
 * in each of these cells, for the workspaces there; one of the directory runs once.
 */
@Injectable()
export class PeriodicJobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(PeriodicJobs.name);
  private readonly jobs: PeriodicJob[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly db: Db,
    private readonly metrics: JobMetrics,
  ) {}

  register(job: PeriodicJob | StatementJob): void {
    if ('run' in job) this.jobs.push(job);
    else
      this.jobs.push({
        ...job,
        ofDirectory: job.statement.home === 'directory',
        run: () => this.db.single((tx) => tx.query(job.statement, [])),
      });
  }

  onApplicationBootstrap(): void {
    this.stopped = false;
    this.timer = setInterval(() => {
      this.running ??= this.runDue().finally(() => (this.running = undefined));
    }, CHECK_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Runs a job in the background before its interval has passed, after the jobs that run now. */
  trigger(name: string): void {
    const job = this.jobs.find((each) => each.name === name);
    if (!job || this.stopped) return;
    const run = this.runAfter(job, this.running).finally(() => {
      if (this.running === run) this.running = undefined;
    });
    this.running = run;
  }

  private async runAfter(job: PeriodicJob, earlier: Promise<void> | undefined): Promise<void> {
    await earlier;
    if (this.stopped) return;
    const run = () => this.run(job);
    const done = job.ofDirectory ? this.db.inCell(MAIN, run) : this.db.inEachCell(run);
    await done.catch((error: unknown) => this.notRecorded(job, error));
  }

  /** Stops the timer and {@link trigger}, and waits for running jobs. {@link runDue} still works. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Runs the jobs that are due and not claimed by another process, in all cells at the same time. */
  async runDue(): Promise<void> {
    await Promise.all(this.db.cells.map((cell) => this.db.inCell(cell, () => this.runDueIn(cell))));
  }

  private async runDueIn(cell: string): Promise<void> {
    for (const job of this.jobs) {
      if (job.ofDirectory && cell !== MAIN) continue;
      try {
        const [won] = await this.db.single((tx) => tx.query(claim, [job.name, job.everySeconds]));
        if (won) await this.run(job);
      } catch (error) {
        this.notRecorded(job, error);
      }
    }
  }

  /** Runs a job and records its outcome. @throws the error of the record */
  private async run(job: PeriodicJob): Promise<void> {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      await job.run();
    } catch (error) {
      this.logger.warn({ err: error, job: job.name }, 'job failed; it will run again at its next interval');
      this.metrics.observe(job.name, 'failed', seconds());
      const text = String(error).slice(0, MAX_ERROR);
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
