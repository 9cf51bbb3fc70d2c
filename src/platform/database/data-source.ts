import pg from 'pg';
import { DataSource } from 'typeorm';
import type { Config } from '../../config/config.js';
import { FairPool, type FairPoolConfig, type Shares, shareUndivided } from './connections/fair-pool.js';
import { PrimaryClient } from './connections/primary-client.js';
import type { SessionConfig, SessionSettings } from './connections/session-client.js';
import type { Schema } from './schema/schema-part.js';
import { TIMEOUTS } from './connections/timeouts.js';

/** The settings of a session that finds its tables in a schema; undefined: in `public`. */
export const sessionIn = (namespace: string | undefined): SessionSettings =>
  namespace === undefined ? {} : { search_path: `${namespace},ext` };

const limitsOfSession = (): SessionSettings => ({
  statement_timeout: String(TIMEOUTS.statement),
  lock_timeout: String(TIMEOUTS.lock),
  idle_in_transaction_session_timeout: String(TIMEOUTS.idleInTransaction),
});

interface DataSourceOptions {
  timeouts?: boolean;
  schema?: string | undefined;
  shares?: Shares;
  poolSize?: number;
}

/** Opens a created pool, and closes it after `work`. */
export async function withDataSource<T>(
  created: DataSource,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = await created.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Creates the pool of a database. TypeORM and the named statements share it.
 * @param options.timeouts false for migrations, whose statements may take long
 * @param options.shares of the uses; default: requests and jobs each use all DATABASE_POOL_MAX connections
 * @param options.poolSize connections of all uses
 * @param options.schema with all tables, that of the applied migrations included; default: public. Extensions are in the schema
 *   `ext`
 */
export function createDataSource(
  config: Config,
  url: string,
  schema: Pick<Schema, 'entities' | 'migrations'>,
  {
    timeouts = true,
    schema: namespace,
    shares = shareUndivided(config.DATABASE_POOL_MAX),
    poolSize = config.DATABASE_POOL_MAX,
  }: DataSourceOptions = {},
): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: FairPool },
    url,
    entities: schema.entities,
    migrations: schema.migrations,
    migrationsTableName: 'schema_migrations',
    ...(namespace !== undefined && { schema: namespace }),
    poolSize,
    applicationName: 'workspace',
    extra: {
      Client: PrimaryClient,
      connectionTimeoutMillis: TIMEOUTS.connect,
      idleTimeoutMillis: 30_000,
      ...(timeouts && { query_timeout: TIMEOUTS.response }),
      keepAlive: true,
      session: { ...(timeouts && limitsOfSession()), ...sessionIn(namespace) },
      shares,
    } satisfies Omit<FairPoolConfig, 'Client'> & SessionConfig & { Client: typeof PrimaryClient },
    logging: false,
  });
}
