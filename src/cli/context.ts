import type { INestApplicationContext } from '@nestjs/common';
import { migrateDatabase, withModules } from '../app.prepare.js';
import type { Config } from '../config/config.js';
import { EmbeddedDatabase } from '../platform/database/embedded/embedded-database.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const INTERRUPTED = 130;

const stderr = (message: string) => void process.stderr.write(`${message}\n`);

/** Runs `work` on the configured database: of a running server, or the embedded one, started for the duration. */
export async function withDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.DATABASE_URL !== undefined) return work(config.DATABASE_URL);
  const opening = EmbeddedDatabase.open({
    dataDir: config.DATA_DIR,
    role: 'tool',
    log: { info: () => undefined, warn: stderr, error: stderr },
  });
  // Stop the embedded database on interruption.
  const interrupted = () =>
    void opening.then((database) => database.close()).finally(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, interrupted);
  const database = await opening;
  try {
    return await work(database.url);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    await database.close();
  }
}

/**
 * Runs `work` with the modules of the application on a migrated database, without an HTTP server.
 * @param work receives the address of the database too
 */
export async function withApp<T>(
  config: Config,
  work: (app: INestApplicationContext, url: string) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (url) => {
    await migrateDatabase(config, url);
    return withModules(config, url, 'silent', (app) => work(app, url));
  });
}
