import cluster from 'node:cluster';
import { Config, ConfigError } from '../config/config.js';
import { createLogger } from '../platform/observability/logger.js';
import type { LoadApplication } from './serve.js';
import { runPrimary } from './primary.js';
import { showSourcePositions } from '../platform/observability/source-positions.js';
import { runWorker } from './worker.js';

/** Runs the application in this process, as primary or as worker. */
export async function runProcess(load: LoadApplication): Promise<void> {
  showSourcePositions();
  const config = loadConfig();
  if (config === undefined) return;
  const log = createLogger(config.LOG_LEVEL);
  await (cluster.isPrimary ? runPrimary : runWorker)(load, config, log);
}

/** Loads the settings. Prints one line on stderr for each invalid one and sets the exit code. */
function loadConfig(): Config | undefined {
  try {
    return Config.load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(error.lines.map((line) => `${line}\n`).join(''));
    process.exitCode = ConfigError.exitCode;
    // The channel to the launcher would keep the process alive.
    if (process.connected) process.disconnect();
    return undefined;
  }
}
