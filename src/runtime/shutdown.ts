import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** A Ctrl-C reaches the whole process group and is forwarded by npm and the launcher: what comes this soon is the same. */
const SAME_SIGNAL_MS = 1_000;
const STARTUP_MS = 10_000;
const FORCED_MS = 3_000;
const EXIT_INTERRUPTED = 130;

/** Thrown by a checkpoint of the startup when the process is told to end meanwhile. */
export class StartInterrupted extends Error {}

interface Step {
  run: () => Promise<void>;
  skippable: boolean;
}

/** Ends the process in order and once, whatever asks for it and however often. */
export class Shutdown {
  private readonly steps: Step[] = [];
  private startup: Promise<unknown> = Promise.resolve();
  private exitCode = 0;
  private ending = false;
  private firstSignalAt = 0;
  private force: () => void = () => undefined;
  private readonly forced = new Promise<void>((resolve) => {
    this.force = resolve;
  });

  constructor(private readonly log: Logger) {}

  /** Ends the process on these signals; a second Ctrl-C does not wait for work in flight. */
  onSignals(...signals: NodeJS.Signals[]): void {
    for (const signal of signals) process.on(signal, () => this.signalled(signal));
  }

  /** An error nobody caught leaves the process in an unknown state: it ends, politely if it can. */
  onCrash(): void {
    process.on('uncaughtException', (error) => this.crashed(error));
    process.on('unhandledRejection', (reason) => this.crashed(reason));
    // A reader of our output that went away (`npm start | head`) is no reason to stop serving.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  }

  /** Adds a step to the end of the process. Steps run one after the other, the last added first. */
  onEnd(run: () => Promise<void>, options: { skippable?: boolean } = {}): void {
    this.steps.push({ run, skippable: options.skippable ?? false });
  }

  /** Remembers the running startup: the end waits for it, so that what it opened is closed. */
  during(startup: Promise<void>): Promise<void> {
    this.startup = startup.catch(() => undefined);
    return startup;
  }

  /** True once the process is ending: whatever fails from then on fails because of that. */
  get isEnding(): boolean {
    return this.ending;
  }

  /** @throws StartInterrupted when the process is ending: between two steps of the startup is a good place to stop. */
  checkpoint(): void {
    if (this.ending) throw new StartInterrupted('The process was told to end while it started.');
  }

  /** Begins the end of the process. Asking again changes nothing, except that a failure is kept. */
  end(exitCode: number): void {
    this.exitCode ||= exitCode;
    if (this.ending) return;
    this.ending = true;
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
