import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedDatabase } from '../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../dist/app.prepare.js';
import { Config } from '../../dist/config/config.js';

/** Starts one PostgreSQL for the run and migrates the template that each test file clones. Plain JavaScript: jest loads
 *  it without a transform. */
export default async function setup() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'workspace-test-'));
  const quiet = () => undefined;
  const database = await EmbeddedDatabase.open({
    dataDir,
    role: 'server',
    log: { info: quiet, warn: console.warn, error: console.error },
  });
  await migrateDatabase(Config.parse({ DATABASE_URL: database.url }), database.url);
  globalThis.__testDatabase = { database, dataDir };
  process.env.TEST_DATABASE_URL = database.url;
}
