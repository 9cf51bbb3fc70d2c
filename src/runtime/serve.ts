import type { Config } from '../config/config.js';
import { collectStartupGarbage } from '../platform/memory/garbage.js';
import type { Application } from './application.js';
import type { Shutdown } from './shutdown.js';

/** How long requests in flight may take to finish when the process is told to end. */
export const DRAIN_MS = 10_000;

/** Serves in this process until it ends. */
export async function serve(
  application: Application,
  config: Config,
  databaseUrl: string,
  shutdown: Shutdown,
): Promise<void> {
  const server = await application.createApp(config, databaseUrl);
  shutdown.onEnd(() => server.drain(DRAIN_MS), { skippable: true });
  shutdown.checkpoint();
  collectStartupGarbage();
  await server.listen();
}
