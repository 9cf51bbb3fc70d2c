import { cpSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { Config } from '../../../dist/config/config.js';
import { createDataSource } from '../../../dist/platform/database/data-source.js';
import { migrate } from '../../../dist/platform/database/schema/migrate.js';
import { schema } from '../../../dist/schema.js';
import { createCellSchemas } from '../database/cell-schemas.ts';
import { emptyDatabase, inDatabase } from '../database/database.ts';
import { openOldest } from './oldest-postgres.mjs';
import { memoryDirectory } from '../memory-directory.ts';

/**
 * Settings of the server whose databases end with the run. Servers that tests start themselves, to kill, back up or restore them,
 * have those of production (`platform/database/embedded/settings.ts`); so has the copy TEST_INSTALLATION, which they start from.
 */
const THROW_AWAY = {
  fsync: 'off',
  // Several applications run in each worker, with pools for each of their databases.
  max_connections: '500',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_compression: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // CREATE and DROP DATABASE make the checkpoints that there are.
  checkpoint_timeout: '1h',
  bgwriter_lru_maxpages: '0',
  wal_writer_delay: '10s',
  // Each database gets a process of its own in this time.
  autovacuum_naptime: '1min',
  shared_preload_libraries: '',
};

/**
 * Starts one PostgreSQL for the run and migrates the template that test files clone. TEST_INSTALLATION is a data directory with a
 * migrated database, which tests of whole servers copy.
 */
export default async function setup() {
  const [dataDir, files] = [memoryDirectory('workspace-test-'), memoryDirectory('workspace-test-files-')];
  const migrated = await open(dataDir);
  await migrateDatabase(Config.parse({ DATABASE_URL: migrated.url }), migrated.url);
  await migrated.close();
  process.env.TEST_INSTALLATION = path.join(files, 'installation');
  cpSync(path.join(dataDir, 'postgres'), path.join(files, 'installation', 'postgres'), { recursive: true });
  const database = await open(dataDir, THROW_AWAY);
  await prepareTemplate(database.url);
  globalThis.__testDatabase = { database, directories: [dataDir, files] };
  process.env.TEST_DATABASE_URL = database.url;
  process.env.TEST_FILES = files;
  process.env.TEST_POSTGRES = path.join(dataDir, 'postgres');
  if (process.env.TEST_CELLS === 'schemas') process.env.TEST_CELL_SCHEMAS = await migratedCellSchemas();
  // This process has loaded the application: workers and processes of tests read its compiled modules from this cache.
  flushCompileCache();
}

/**
 * The first connection to a database writes the descriptions of the system catalogues to a file, which further ones read. A copy of
 * the database has the file, so that no connection of a test builds them. The start of a server removes it.
 */
async function prepareTemplate(url) {
  await inDatabase(url, 'SELECT 1');
}

function open(dataDir, settings) {
  const quiet = () => undefined;
  const log = { info: quiet, warn: console.warn, error: console.error };
  if (process.env.TEST_OLDEST_POSTGRES) return openOldest(dataDir, log, settings);
  return EmbeddedDatabase.open({ dataDir, role: 'server', log, settings });
}

/** @returns the name of a database with the schemas of two cells, which test files clone */
async function migratedCellSchemas() {
  const database = await emptyDatabase();
  for (const cell of await createCellSchemas(database.url)) {
    const config = Config.parse({ DATABASE_URL: cell.url });
    const options = { timeouts: false, schema: cell.schema };
    const dataSource = await createDataSource(config, cell.url, schema, options).initialize();
    await migrate(dataSource, schema.sql);
    await dataSource.destroy();
  }
  return new URL(database.url).pathname.slice(1);
}
