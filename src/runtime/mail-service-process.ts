import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type MetricsSource, readMetricsOf } from '../platform/observability/scrape.js';

const MAIN = fileURLToPath(new URL('../mail-service/main.js', import.meta.url));
const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 10_000;
/** A process that has run for this time resets the delay before a restart. */
const HEALTHY_MS = 30_000;

/** The mail service could not start; the message is a line for the operator. */
export class MailServiceStartError extends Error {}

/** Address and token of the mail service. */
export interface MailServiceAddress {
  url: string;
  token: string;
}

/**
 * Runs the embedded mail service in a child process, so that mail does not use the event loop or the memory of the API. There is
 * one for all workers. After a crash it is replaced, with the same address and token.
 */
export class MailServiceProcess {
  private readonly token = randomBytes(32).toString('hex');
  private child: ChildProcess | undefined;
  private port = 0;
  private pause = FIRST_PAUSE_MS;
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly databaseUrl: string,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves when it serves.
   * @throws MailServiceStartError
   */
  async start(): Promise<MailServiceAddress> {
    this.port = await this.launch();
    return { url: `http://127.0.0.1:${this.port}`, token: this.token };
  }

  /** Its metrics, with those of its schema in the database. */
  get source(): MetricsSource {
    const { child } = this;
    return {
      process: 'mail-service',
      hasInstallation: false,
      read: async () => (child?.connected ? readMetricsOf(child, { installation: true }) : undefined),
    };
  }

  /** Stops the process after its requests in flight. Kills it after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const killTimer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(killTimer);
  }

  private async launch(): Promise<number> {
    const child = fork(MAIN, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child = child;
    const { databaseUrl, token, port } = this;
    const since = Date.now();
    const started = Promise.withResolvers<number>();
    child.on('message', (message: { port: number } | { failure: string } | object) => {
      if ('port' in message) started.resolve(message.port);
      else if ('failure' in message) started.reject(new MailServiceStartError(message.failure));
    });
    child.once('error', started.reject);
    child.once('exit', (code, signal) => {
      started.reject(
        new MailServiceStartError(
          `The mail service ended while it started (${signal ?? `exit code ${code}`}).`,
        ),
      );
    });
    child.send({ start: { databaseUrl, token, port } });
    const serving = await started.promise;
    child.once('exit', (code, signal) => this.replace(since, signal ?? code));
    this.log.info({ process: child.pid, port: serving }, 'mail service serving');
    return serving;
  }

  private replace(since: number, reason: string | number | null): void {
    if (this.stopping) return;
    if (Date.now() - since > HEALTHY_MS) this.pause = FIRST_PAUSE_MS;
    const { pause } = this;
    this.pause = Math.min(pause * 2, LAST_PAUSE_MS);
    this.log.error({ reason, pause }, 'the mail service ended; replacing it');
    this.timer = setTimeout(() => {
      const began = Date.now();
      this.launch().catch((error: Error) => this.replace(began, error.message));
    }, pause);
  }
}
