import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { Application } from './application.js';
import { failureLine } from './failure-line.js';
import { serve } from './serve.js';
import { Shutdown } from './shutdown.js';
import type { WorkerMessage } from './worker-pool.js';

/** A process that only serves. The primary tells it when to end, and replaces it when it crashes. */
export async function runWorker(application: Application, config: Config, log: Logger): Promise<void> {
  const shutdown = new Shutdown(log);
  shutdown.onCrash();
  shutdown.onSignals('SIGTERM');
  // A Ctrl-C or a closed terminal reaches us as well; the primary decides what follows from it.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  try {
    await shutdown.during(serve(application, config, config.DATABASE_URL ?? '', shutdown));
    tell({ ready: true });
  } catch (error) {
    if (shutdown.isEnding) return;
    const line = failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'a worker failed to start');
    tell({ failure: line ?? 'A worker process failed to start; the log says why.' });
    shutdown.end(1);
  }
}

function tell(message: WorkerMessage): void {
  process.send?.(message);
}
