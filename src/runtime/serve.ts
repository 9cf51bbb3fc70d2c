import type { Config } from '../config/config.js';
import { collectStartupGarbage } from '../platform/memory/garbage.js';
import type { Logger } from 'pino';
import { startTelemetry } from '../platform/observability/telemetry/telemetry.js';
import type { Application, Server } from './application.js';
import type { Shutdown } from './shutdown.js';

/** Time for requests in flight at shutdown. */
export const DRAIN_MS = 10_000;

/** Serves in this process until its end. */
export async function serve(
  application: Application,
  config: Config,
  databaseUrl: string,
  shutdown: Shutdown,
  log: Logger,
): Promise<Server> {
  const telemetry = await startTelemetry(config, log, 'api');
  if (telemetry) shutdown.onEnd(() => telemetry.stop(), { skippable: true });
  const server = await application.createApp(config, databaseUrl);
  shutdown.onEnd(() => server.drain(DRAIN_MS), { skippable: true });
  telemetry?.exportMetrics(server.metrics);
  shutdown.checkpoint();
  collectStartupGarbage();
  await server.listen();
  return server;
}
