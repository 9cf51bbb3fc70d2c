import path from 'node:path';
import { EmbeddedDatabase } from '../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../dist/app.prepare.js';
import { Config } from '../../dist/config/config.js';
import { memoryDirectory } from './memory-directory.ts';

/** Starts one PostgreSQL for the run and migrates the template that test files clone. */
export default async function setup() {
  const dataDir = memoryDirectory('workspace-test-');
  const quiet = () => undefined;
  const database = await EmbeddedDatabase.open({
    dataDir,
    role: 'server',
    log: { info: quiet, warn: console.warn, error: console.error },
  });
  await migrateDatabase(Config.parse({ DATABASE_URL: database.url }), database.url);
  globalThis.__testDatabase = { database, dataDir };
  process.env.TEST_DATABASE_URL = database.url;
  // Compiled modules, which the processes that tests start share.
  process.env.NODE_COMPILE_CACHE = path.join(dataDir, 'compile-cache');
}
