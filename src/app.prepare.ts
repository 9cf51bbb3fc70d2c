import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { createApp, type ServedApp } from './app.setup.js';
import { API_PREFIX, type Config } from './config/config.js';
import { EXAMPLE_PATH, hasExample } from './docs/serve-example.js';
import { DEMO_PASSWORD, DEMO_TENANT, DEMO_USERS } from './demo/demo-client.js';
import { createDemoWorkspace, demoToken, isDemoMissing } from './demo/demo-workspace.js';
import { CellAdministration } from './platform/cells/cell-administration.js';
import { CELL_URLS } from './platform/cells/cells.js';
import { Db } from './platform/database/db.js';
import { createDataSource, sessionIn, withDataSource } from './platform/database/data-source.js';
import { rejectTransactionMode } from './platform/database/connections/pooler.js';
import type { SessionConfig } from './platform/database/connections/session-client.js';
import { migrate, type MigrationPlan, planMigration } from './platform/database/schema/migrate.js';
import type { Schema } from './platform/database/schema/schema-part.js';
import { createLogger, PinoLoggerService } from './platform/observability/logger.js';
import { Keyring } from './platform/secrets/keyring.js';
import { SecretBox } from './platform/secrets/secret-box.js';
import { schema } from './schema.js';

const DRAIN_MS = 1_000;

/**
 * Brings the schema up to date.
 * @param wanted the whole schema, or the part of its migrations that a backup was made with
 * @returns the names of the migrations applied now
 */
export async function migrateDatabase(
  config: Config,
  databaseUrl: string,
  wanted: Schema = schema,
): Promise<string[]> {
  const created = createDataSource(config, databaseUrl, wanted, { timeouts: false });
  return withDataSource(created, (dataSource) => migrate(dataSource, wanted.sql));
}

/** Compares a database with this version. Reads only. @param namespace the schema of a cell that is not a whole database */
export async function planDatabase(
  config: Config,
  databaseUrl: string,
  namespace?: string,
): Promise<MigrationPlan> {
  const created = createDataSource(config, databaseUrl, schema, { schema: namespace });
  return withDataSource(created, (dataSource) => planMigration(dataSource, schema.sql));
}

/**
 * Brings the schema of the cells other than `main`, the database of the directory, up to date.
 * @returns the migrations applied in each cell, or the error of a cell that failed
 */
export async function migrateCells(
  config: Config,
  databaseUrl: string,
): Promise<Record<string, string[] | Error>> {
  if (!(await hasCells(config, databaseUrl))) return {};
  return withModules(config, databaseUrl, (app) => app.get(CellAdministration).migrate());
}

/** Brings the database into the state that serving needs. An unavailable cell affects its own workspaces only. */
export async function prepare(config: Config, databaseUrl: string): Promise<void> {
  if (!config.embeddedDatabase) await rejectTransactionMode(databaseUrl);
  await migrateDatabase(config, databaseUrl);
  await migrateCells(config, databaseUrl);
}

/** How to reach the database of a cell. */
export interface CellAddress {
  name: string;
  url: string;
  schema: string | undefined;
  connection: Pick<SessionConfig, 'connectionString' | 'session'>;
}

/**
 * The cells other than `main`. Their addresses are encrypted. Reads only: the modules of the application would encrypt
 * stored secrets again after a change of SECRET_KEYS.
 */
export async function cellAddresses(config: Config, databaseUrl: string): Promise<CellAddress[]> {
  return withoutModules(config, databaseUrl, async (dataSource) => {
    const cells = await storedCells(dataSource);
    if (cells.length === 0) return [];
    const keyring = new Keyring(new Db(dataSource));
    await keyring.onModuleInit();
    const secrets = new SecretBox(config, keyring);
    return cells.map(({ name, sealed_url, schema: namespace }) => {
      const url = secrets.open(CELL_URLS, name, sealed_url).toString();
      const schemaName = namespace ?? undefined;
      return {
        name,
        url,
        schema: schemaName,
        connection: { connectionString: url, session: sessionIn(schemaName) },
      };
    });
  });
}

/** Whether there is a cell other than `main`. Does not load the modules, which takes a second. */
const hasCells = (config: Config, databaseUrl: string): Promise<boolean> =>
  withoutModules(config, databaseUrl, async (dataSource) => (await storedCells(dataSource)).length > 0);

async function storedCells(
  dataSource: DataSource,
): Promise<{ name: string; sealed_url: string; schema: string | null }[]> {
  const [known] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('cells') IS NOT NULL AS exists`,
  );
  if (!known?.exists) return [];
  return dataSource.query(
    'SELECT name, sealed_url, schema FROM cells WHERE sealed_url IS NOT NULL ORDER BY added_at, name',
  );
}

async function withoutModules<T>(
  config: Config,
  databaseUrl: string,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  return withDataSource(createDataSource(config, databaseUrl, { entities: [], migrations: [] }), work);
}

/**
 * Creates the demo workspace if it is enabled and missing or incomplete, through an application of its own on the loopback address.
 * @param served an application of the same database
 */
export async function prepareDemo(config: Config, databaseUrl: string, served: ServedApp): Promise<void> {
  if (!config.demo || !(await isDemoMissing(served.nest))) return;
  const unlimited = config.with({ API_REQUESTS_PER_MINUTE: 0 });
  const app = await createApp(unlimited, databaseUrl);
  try {
    await app.nest.listen(0, '127.0.0.1');
    await createDemoWorkspace(app.nest, { mail: config.MAIL_SERVICE_EMBEDDED });
  } finally {
    await app.drain(DRAIN_MS);
  }
}

/** Information for the operator once the service responds. @param served the application that responds */
export async function banner(config: Config, served: ServedApp): Promise<string> {
  const base = `${config.publicUrl}/${API_PREFIX}`;
  const lines = ['', `  Workspace API    ${base}`, `  Swagger UI       ${base}/docs`];
  if (config.demo) {
    const token = await demoToken(served.nest);
    const users = DEMO_USERS.map((user) => `${user.email} (${user.role})`);
    lines.push(
      `  Demo workspace   ${DEMO_TENANT.slug}: ${users.join(', ')}`,
      `  Demo password    ${DEMO_PASSWORD}`,
      ...(hasExample(config) ? [`  Example page     ${config.publicUrl}${EXAMPLE_PATH}`] : []),
      `  Their tokens     npm run --silent workspace -- token --email ${DEMO_USERS[1].email} --tenant ${DEMO_TENANT.slug}`,
      '',
      `  Access token of ${DEMO_USERS[0].email}, good for ${Math.round(config.TOKEN_TTL / 360) / 10} h:`,
      '',
      token ?? '(none)',
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Runs `work` with the modules of the application on a migrated database, without an HTTP server and without a log. */
export async function withModules<T>(
  config: Config,
  url: string,
  work: (app: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const logger = new PinoLoggerService(createLogger('silent'));
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(config, url), {
    logger,
    abortOnError: false,
  });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
