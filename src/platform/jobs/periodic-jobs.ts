import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';

interface PeriodicJob {
  /** Unique; the same in every process. */
  name: string;
  everySeconds: number;
  run(): Promise<void>;
}

const CHECK_MS = 15_000;

const claim = either.statement<{ name: string }>(
  'jobs.claim',
  `INSERT INTO job_runs AS job (name, ran_at) VALUES ($1, now())
   ON CONFLICT (name) DO UPDATE SET ran_at = now() WHERE job.ran_at <= now() - make_interval(secs => $2)
   RETURNING name`,
);

/** Runs maintenance jobs at intervals, each job in one process at a time. */
@Injectable()
export class PeriodicJobs implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(PeriodicJobs.name);
  private readonly jobs: PeriodicJob[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly db: Db) {}

  register(job: PeriodicJob): void {
    this.jobs.push(job);
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
    const run = (this.running ?? Promise.resolve())
      .then(() => (this.stopped ? undefined : job.run()))
      .catch((error: unknown) => this.failed(job, error))
      .finally(() => {
        if (this.running === run) this.running = undefined;
      });
    this.running = run;
  }

  /** Stops the timer and {@link trigger}, and waits for running jobs. {@link runDue} still works. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Runs the jobs that are due and not claimed by another process. */
  async runDue(): Promise<void> {
    for (const job of this.jobs) {
      try {
        const [won] = await this.db.single((tx) => tx.query(claim, [job.name, job.everySeconds]));
        if (won) await job.run();
      } catch (error) {
        this.failed(job, error);
      }
    }
  }

  private failed({ name }: PeriodicJob, error: unknown): void {
    this.logger.warn({ err: error, job: name }, 'job failed; it will run again at its next interval');
  }
}
