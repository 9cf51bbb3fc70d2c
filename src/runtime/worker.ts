import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.js';
import { sendMetricsTo } from '../platform/observability/scrape.js';
import { type LoadApplication, type Server, ServingProcess } from './serve.js';
import { failureLine } from './failure-line.js';
import {
  fromPrimary,
  type MessageWith,
  type PrimaryMessage,
  type ServeSettings,
  type WorkerMessage,
} from './messages.js';
import { Shutdown } from './shutdown.js';

/**
 * Runs a worker process: it serves the connections that the primary hands to it. The first one also prepares the database. The primary
 * stops it, and replaces it after a crash.
 */
export async function runWorker(load: LoadApplication, config: Config, log: Logger): Promise<void> {
  const shutdown = new Shutdown(log);
  shutdown.onCrash();
  shutdown.onSignals('SIGTERM');
  // Ctrl-C and a closed terminal signal the whole process group. The primary handles them.
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  try {
    const serving = new ServingProcess(load, config, config.DATABASE_URL ?? '', shutdown, log);
    await shutdown.runDuring(start(serving, config, shutdown));
  } catch (error) {
    if (shutdown.isEnding) return;
    const line = failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'a worker failed to start');
    const exitCode = error instanceof ConfigError ? ConfigError.exitCode : 1;
    send({ failure: line ?? 'A worker process failed to start; see the log.', exitCode });
    shutdown.end(exitCode);
  }
}

async function start(serving: ServingProcess, config: Config, shutdown: Shutdown): Promise<void> {
  const first = fromPrimary('prepare', 'serve');
  await serving.loadApplication();
  const server = await serving.create(await settingsOf(await first, serving));
  shutdown.checkpoint();
  acceptConnections(server);
  shutdown.onEnd(async () => send({ ending: true }));
  if (config.METRICS_PORT > 0) sendMetricsTo(process, server.metrics);
  send({ ready: true, banner: await serving.banner() });
}

/** Prepares the database if the first message asks for it. @returns the settings to serve with, which come later then */
async function settingsOf(
  first: MessageWith<PrimaryMessage, 'prepare' | 'serve'>,
  serving: ServingProcess,
): Promise<ServeSettings> {
  if ('serve' in first) return first.serve;
  await serving.prepare();
  const next = fromPrimary('serve');
  send({ prepared: true });
  return (await next).serve;
}

function acceptConnections(server: Server): void {
  const accept = server.acceptFrom();
  process.on('message', (message: PrimaryMessage, socket: Socket | undefined) => {
    if (!('connection' in message)) return;
    // The client may have closed the connection meanwhile.
    if (socket) accept(socket);
    send({ accepted: true });
  });
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}
