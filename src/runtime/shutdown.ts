import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Ctrl-C signals the whole process group, and npm and the launcher forward it. Signals within this time are the same. */
const SAME_SIGNAL_MS = 1_000;
const STARTUP_MS = 10_000;
const FORCED_MS = 3_000;
const EXIT_INTERRUPTED = 130;

/** Thrown by a checkpoint of the startup when the process is ending. */
class StartInterrupted extends Error {}

interface Step {
  run: () => Promise<void>;
  skippable: boolean;
}

/** Runs the steps of the shutdown once, in order. */
export class Shutdown {
  private readonly steps: Step[] = [];
  private readonly interruptions: (() => void)[] = [];
  private startup: Promise<unknown> = Promise.resolve();
  private exitCode = 0;
  private ending = false;
  private firstSignalAt = 0;
  private force: () => void = () => undefined;
  private readonly forced = new Promise<void>((resolve) => {
    this.force = resolve;
  });

  constructor(private readonly log: Logger) {}

  /** Ends the process on these signals. A second Ctrl-C does not wait for requests in flight. */
  onSignals(...signals: NodeJS.Signals[]): void {
    for (const signal of signals) process.on(signal, () => this.signalled(signal));
  }

  /** Ends the process after an uncaught error, because its state is unknown. */
  onCrash(): void {
    process.on('uncaughtException', (error) => this.crashed(error));
    process.on('unhandledRejection', (reason) => this.crashed(reason));
    // A closed pipe (`npm start | head`) must not stop the service.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  }

  /** Adds a step to the end of the process. Steps run one after the other, the last added first. */
  onEnd(run: () => Promise<void>, options: { skippable?: boolean } = {}): void {
    this.steps.push({ run, skippable: options.skippable ?? false });
  }

  /** Called at the begin of the end, before the shutdown waits for a startup that is running. */
  onInterruption(interrupt: () => void): void {
    this.interruptions.push(interrupt);
  }

  /** Registers the running startup. The shutdown waits for it, so that its resources are closed. */
  runDuring<T>(startup: Promise<T>): Promise<T> {
    this.startup = startup.catch(() => undefined);
    return startup;
  }

  /** True when the process is ending. Later failures are its consequences. */
  get isEnding(): boolean {
    return this.ending;
  }

  /** Called between two steps of the startup. @throws StartInterrupted when the process is ending */
  checkpoint(): void {
    if (this.ending) throw new StartInterrupted('The process received a signal during the start.');
  }

  /** Starts the shutdown. A repeated call only records a failure. */
  end(exitCode: number): void {
    this.exitCode ||= exitCode;
    if (this.ending) return;
    this.ending = true;
    for (const interrupt of this.interruptions) interrupt();
    void this.run();
  }

  private async run(): Promise<never> {
    await Promise.race([this.startup, this.forced, delay(STARTUP_MS)]);
    for (const { run, skippable } of this.steps.toReversed()) {
      const running = run().catch((error: unknown) => {
        this.log.error({ err: error }, 'a step of the shutdown failed');
        this.exitCode ||= 1;
      });
      await (skippable ? Promise.race([running, this.forced]) : running);
    }
    process.exit(this.exitCode);
  }

  private signalled(signal: NodeJS.Signals): void {
    const now = Date.now();
    if (!this.ending) {
      this.firstSignalAt = now;
      this.log.info(`${signal}: stopping`);
      this.end(0);
    } else if (signal === 'SIGINT' && now - this.firstSignalAt > SAME_SIGNAL_MS) {
      this.exitCode = EXIT_INTERRUPTED;
      this.force();
      setTimeout(() => process.exit(EXIT_INTERRUPTED), FORCED_MS);
    }
  }

  private crashed(error: unknown): void {
    this.log.fatal({ err: error }, 'uncaught error: stopping');
    this.end(1);
  }
}
