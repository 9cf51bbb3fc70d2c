import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { sendMetricsTo } from '../platform/observability/scrape.js';
import type { LoadApplication } from './application.js';
import { failureLine } from './failure-line.js';
import { serve } from './serve.js';
import { Shutdown } from './shutdown.js';
import type { WorkerMessage } from './worker-pool.js';

/** Runs a worker process, which only serves. The primary stops it, and replaces it after a crash. */
export async function runWorker(load: LoadApplication, config: Config, log: Logger): Promise<void> {
  const shutdown = new Shutdown(log);
  shutdown.onCrash();
  shutdown.onSignals('SIGTERM');
  // Ctrl-C and a closed terminal signal the whole process group. The primary handles them.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  try {
    const application = await shutdown.during(load());
    const server = await shutdown.during(
      serve(application, config, config.DATABASE_URL ?? '', shutdown, log),
    );
    if (config.METRICS_PORT > 0) sendMetricsTo(process, server.metrics);
    send({ ready: true });
  } catch (error) {
    if (shutdown.isEnding) return;
    const line = failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'a worker failed to start');
    send({ failure: line ?? 'A worker process failed to start; see the log.' });
    shutdown.end(1);
  }
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
