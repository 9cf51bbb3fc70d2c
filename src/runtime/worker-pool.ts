import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { type MetricsSource, readMetricsOf } from '../platform/observability/scrape.js';

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;
/** A process that has run for this time resets the delay before a restart. */
const HEALTHY_MS = 30_000;

/** A message of a worker to the primary about its start. `failure` is a line for the operator. */
export type WorkerMessage = { ready: true } | { failure: string };

/** A worker could not start; the message is a line for the operator. */
export class WorkerStartError extends Error {}

/** Worker processes that share the port. One that crashes is replaced. */
export class WorkerPool {
  private stopping = false;
  private pause = FIRST_PAUSE_MS;
  private readonly numbered = new Map<number, Worker>();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly size: number,
    /** Settings of the workers in addition to the environment. */
    private readonly env: Record<string, string>,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves when all workers serve.
   * @throws WorkerStartError when one of them cannot
   */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.size }, (_, n) => this.ready(this.fork(n + 1))));
    for (const [number, worker] of this.numbered) this.supervise(number, worker);
  }

  /** Stops the workers after their requests in flight. Kills them after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping = true;
    for (const timer of this.timers) clearTimeout(timer);
    const workers = this.workers();
    const exits = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of workers) worker.process.kill('SIGTERM');
    const killTimer = setTimeout(() => {
      for (const worker of this.workers()) worker.process.kill('SIGKILL');
    }, timeoutMs);
    await Promise.all(exits);
    clearTimeout(killTimer);
  }

  /** Its workers by number, from 1. A worker that replaces another one has the number of that one. */
  get sources(): MetricsSource[] {
    return [...this.numbered].map(([number, worker]) => ({
      process: `worker-${number}`,
      hasInstallation: worker.isConnected(),
      read: async (options) => (worker.isConnected() ? readMetricsOf(worker, options) : undefined),
    }));
  }

  private fork(number: number): Worker {
    const worker = cluster.fork(this.env);
    this.numbered.set(number, worker);
    return worker;
  }

  private workers(): Worker[] {
    return Object.values(cluster.workers ?? {}).flatMap((worker) =>
      worker?.isDead() === false ? [worker] : [],
    );
  }

  private ready(worker: Worker): Promise<void> {
    return new Promise((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        if ('ready' in message) resolve();
        if ('failure' in message) reject(new WorkerStartError(message.failure));
      });
      worker.once('exit', (code, signal) => {
        reject(
          new WorkerStartError(`A worker process ended while it started (${signal ?? `exit code ${code}`}).`),
        );
      });
    });
  }

  private supervise(number: number, worker: Worker): void {
    const since = Date.now();
    const replace = () => {
      if (this.stopping) return;
      if (Date.now() - since > HEALTHY_MS) this.pause = FIRST_PAUSE_MS;
      this.log.error(
        { worker: worker.process.pid, pause: this.pause },
        'a worker process ended; replacing it',
      );
      this.later(() => this.supervise(number, this.fork(number)));
      this.pause = Math.min(this.pause * 2, LAST_PAUSE_MS);
    };
    if (worker.isDead()) replace();
    else worker.once('exit', replace);
  }

  private later(work: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, this.pause);
    this.timers.add(timer);
  }
}
