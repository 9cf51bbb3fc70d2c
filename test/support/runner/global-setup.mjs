import { flushCompileCache } from 'node:module';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { Config } from '../../../dist/config/config.js';
import { memoryDirectory } from '../memory-directory.ts';

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
  const files = memoryDirectory('workspace-test-files-');
  globalThis.__testDatabase = { database, directories: [dataDir, files] };
  process.env.TEST_DATABASE_URL = database.url;
  process.env.TEST_FILES = files;
  // This process has loaded the application. The workers and the processes that tests start use its compiled modules.
  flushCompileCache();
}
