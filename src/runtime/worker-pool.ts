import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { type MetricsSource, readMetricsOf } from '../platform/observability/scrape.js';
import type { ListeningPort } from './listening-port.js';
import {
  fromWorker,
  type MessageWith,
  type PrimaryMessage,
  type ServeSettings,
  type WorkerMessage,
} from './messages.js';
import type { Serving } from './serve.js';

/** The first replacement starts at once; each further one after twice the pause of the one before. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 30_000;
/** A worker that has run for this time ends the series of replacements. */
const HEALTHY_MS = 30_000;
/** Number of workers that ended soon after their start, from which on the log says so. */
const LOOP = 3;

/** A worker could not start; the message is a line for the operator. */
export class WorkerStartError extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** Worker processes that take the connections of the port. One that ends is replaced. */
export class WorkerPool implements Serving {
  private stopping = false;
  private isServing = false;
  /** Workers that ended one after the other without having run for HEALTHY_MS. */
  private ended = 0;
  private settings: ServeSettings = { mail: undefined };
  private readonly numbered = new Map<number, Worker>();
  private readonly timers = new Set<NodeJS.Timeout>();

  /** @param env settings of the workers in addition to the environment */
  constructor(
    private readonly size: number,
    private readonly env: Record<string, string>,
    private readonly port: ListeningPort,
    private readonly log: Logger,
  ) {}

  /** The first worker prepares the database. @throws WorkerStartError */
  async prepare(): Promise<void> {
    const first = this.fork(1);
    post(first, { prepare: true });
    await reply(first, 'prepared');
  }

  /**
   * Resolves when all workers serve. The others start after the first one.
   * @throws WorkerStartError when one of them cannot
   */
  async serve(settings: ServeSettings): Promise<string> {
    this.settings = settings;
    const { banner = '' } = await this.serving(this.numbered.get(1) as Worker);
    const others = Array.from({ length: this.size - 1 }, (_, n) => this.fork(n + 2));
    await Promise.all(others.map((worker) => this.serving(worker)));
    this.isServing = true;
    for (const [number, worker] of this.numbered) this.supervise(number, worker);
    return banner;
  }

  /** Ends workers that are starting. Workers that serve are left to `stop`. */
  interrupt(): void {
    if (!this.isServing) for (const worker of this.workers()) worker.process.kill('SIGTERM');
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
    // A message to a worker that has just ended fails. Without a listener, this would end the primary.
    worker.on('error', () => undefined);
    this.numbered.set(number, worker);
    return worker;
  }

  private workers(): Worker[] {
    return Object.values(cluster.workers ?? {}).flatMap((worker) =>
      worker?.isDead() === false ? [worker] : [],
    );
  }

  /** Lets a worker serve. @throws WorkerStartError */
  private async serving(worker: Worker): Promise<MessageWith<WorkerMessage, 'ready'>> {
    post(worker, { serve: this.settings });
    const ready = await reply(worker, 'ready');
    this.port.add(worker);
    return ready;
  }

  private supervise(number: number, worker: Worker): void {
    const since = Date.now();
    let isReplaced = false;
    const replace = (reason: string): void => {
      this.port.remove(worker);
      if (isReplaced || this.stopping) return;
      isReplaced = true;
      this.replace(number, worker, reason, since);
    };
    // It finishes its requests in flight; the new one starts meanwhile.
    worker.on('message', (message: WorkerMessage) => {
      if ('ending' in message) replace('an uncaught error');
    });
    worker.once('exit', (code, signal) => replace(signal ?? `exit code ${code}`));
    worker.on('error', (error) => {
      // The system could not start it, so that it does not exit either.
      if (worker.process.pid === undefined) replace(error.message);
    });
    if (worker.isDead()) replace('an unknown reason');
  }

  private replace(number: number, { process: { pid } }: Worker, reason: string, since: number): void {
    if (Date.now() - since > HEALTHY_MS) this.ended = 0;
    const pause = this.ended === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.ended - 1), LAST_PAUSE_MS);
    this.ended += 1;
    const fields = { worker: pid, reason, pause };
    if (this.ended < LOOP) this.log.error(fields, 'a worker process ended; replacing it');
    else
      this.log.error(
        { ...fields, ended: this.ended },
        'worker processes end soon after their start; the reasons are above, and the next one starts after the pause',
      );
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void this.restart(number);
    }, pause);
    this.timers.add(timer);
  }

  private async restart(number: number): Promise<void> {
    const worker = this.fork(number);
    this.supervise(number, worker);
    try {
      await this.serving(worker);
      this.log.info({ worker: worker.process.pid }, 'a new worker process serves');
    } catch (error) {
      if (!this.stopping)
        this.log.error({ reason: (error as Error).message }, 'a worker process failed to start');
    }
  }
}

const post = (worker: Worker, message: PrimaryMessage): void => void worker.send(message);

/** @throws WorkerStartError when the worker fails or ends before */
async function reply<Key extends 'prepared' | 'ready'>(
  worker: Worker,
  key: Key,
): Promise<MessageWith<WorkerMessage, Key>> {
  const ended = new Promise<never>((_, reject) => {
    worker.once('exit', (code, signal) =>
      reject(
        new WorkerStartError(`A worker process ended while it started (${signal ?? `exit code ${code}`}).`),
      ),
    );
  });
  const failed = fromWorker(worker, 'failure').then(({ failure, exitCode }) => {
    throw new WorkerStartError(failure, exitCode);
  });
  return Promise.race([fromWorker(worker, key), failed, ended]);
}
