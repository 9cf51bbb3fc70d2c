import { flushCompileCache } from 'node:module';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { Config } from '../../../dist/config/config.js';
import { createDataSource } from '../../../dist/platform/database/data-source.js';
import { migrate } from '../../../dist/platform/database/schema/migrate.js';
import { schema } from '../../../dist/schema.js';
import { createCellSchemas } from '../database/cell-schemas.ts';
import { emptyDatabase } from '../database/database.ts';
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
  if (process.env.TEST_CELLS === 'schemas') process.env.TEST_CELL_SCHEMAS = await migratedCellSchemas();
  // This process has loaded the application. The workers and the processes that tests start use its compiled modules.
  flushCompileCache();
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
