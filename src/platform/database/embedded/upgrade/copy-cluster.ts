import { availableParallelism } from 'node:os';
import type pg from 'pg';
import type { SessionConfig } from '../../connections/session-client.js';
import { openConnection } from '../../long-session.js';
import { copyRoles } from './copy-roles.js';
import { type CopiedTable, copySequences, copyTable, listTables } from './copy-rows.js';
import { createsDatabase, type DumpEntry, isOfDatabase, splitDump, splitWholeDump } from './dump-entries.js';
import type { Progress } from './progress.js';
import { dumpSchema, type DumpSource } from './schema-dump.js';

/** A cluster that runs. */
export interface RunningCluster extends DumpSource {
  connection: (database: string) => SessionConfig;
}

const MAX_CONNECTIONS = 4;
const MAINTENANCE = 'postgres';
/** Databases that every cluster has. */
const PRESENT = new Set([MAINTENANCE, 'template1']);
const NAME = 'upgrade';

/** Settings of both sides, as pg_dump has them, whatever the databases and roles have: they decide the text of values. */
const SESSION = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  // Rows pass in the order in which they are stored.
  synchronize_seqscans: 'off',
  // A role or database may have it on. The addresses of the source turn it on again.
  default_transaction_read_only: 'off',
};

/** Contents that a dump of rows and definitions does not have. None is made by the product. */
const UNSUPPORTED = `
SELECT 'large objects' AS kind WHERE EXISTS (SELECT FROM pg_largeobject_metadata)
UNION ALL SELECT 'materialized views' WHERE EXISTS (SELECT FROM pg_class WHERE relkind = 'm')
UNION ALL SELECT 'configuration tables of extensions' WHERE EXISTS (SELECT FROM pg_extension WHERE extconfig IS NOT NULL)
UNION ALL SELECT 'tablespaces' WHERE EXISTS (SELECT FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global'))
UNION ALL SELECT 'databases without connections' WHERE EXISTS (SELECT FROM pg_database WHERE NOT datallowconn AND datname <> 'template0')`;

/**
 * Copies everything of one cluster into a new one: roles, all databases with all definitions, rows and values of sequences.
 * Definitions come from pg_dump, rows by COPY, indexes and foreign keys after them. Each copy is compared with its source.
 * @throws Error when a part cannot be copied, or differs
 */
export async function copyCluster(
  source: RunningCluster,
  target: RunningCluster,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const databases = await withClients(
    [source.connection(MAINTENANCE), target.connection(MAINTENANCE)],
    async ([from, to]) => {
      await copyRoles(from!, to!);
      const { rows } = await from!.query<{ name: string }>(
        `SELECT datname AS name FROM pg_database WHERE datallowconn AND datname <> 'template0'
        ORDER BY datname = 'template1' DESC, datname`,
      );
      return rows.map(({ name }) => name);
    },
  );
  for (const database of databases) await copyDatabase(source, target, database, progress, signal);
}

/** What a copy has to do. */
export interface Inspection {
  /** Bytes of all tables. */
  bytes: number;
  /** Bytes of all databases. */
  size: number;
  /** Contents that cannot be copied. */
  unsupported: string[];
}

export async function inspectCluster(source: Pick<RunningCluster, 'connection'>): Promise<Inspection> {
  const databases = await withClients([source.connection(MAINTENANCE)], async ([client]) => {
    const { rows } = await client!.query<{ name: string; size: number }>(
      'SELECT datname AS name, pg_database_size(oid)::float8 AS size FROM pg_database WHERE datallowconn',
    );
    return rows;
  });
  const names = databases.map(({ name }) => name);
  const size = databases.reduce((sum, database) => sum + database.size, 0);
  const unsupported = new Set<string>();
  let bytes = 0;
  for (const name of names)
    await withClients([source.connection(name)], async ([client]) => {
      for (const { kind } of (await client!.query<{ kind: string }>(UNSUPPORTED)).rows) unsupported.add(kind);
      for (const table of await listTables(client!)) bytes += table.bytes;
    });
  return { bytes, size, unsupported: [...unsupported] };
}

async function copyDatabase(
  source: RunningCluster,
  target: RunningCluster,
  database: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const isPresent = PRESENT.has(database);
  const whole = splitWholeDump(
    await dumpSchema(source, database, { section: 'pre-data', withDatabase: true, signal }),
  );
  const creation = isPresent ? whole.database.filter(({ sql }) => !createsDatabase(sql)) : whole.database;
  const { content } = whole;
  await withClients([target.connection(MAINTENANCE)], ([client]) => execute(client!, creation, signal));
  await withClients([target.connection(database)], ([client]) => execute(client!, content, signal));
  // Usually those two have nothing else.
  if (content.every(({ name }) => name === '' || isOfDatabase(name))) return;
  await copyAllRows(source, target, database, progress, signal);
  const after = splitDump(await dumpSchema(source, database, { section: 'post-data', signal }));
  await withClients([source.connection(database), target.connection(database)], async ([from, to]) => {
    await copySequences(from!, to!);
    progress.phase(`Creating the indexes and constraints of the database ${database}`, after.length);
    await execute(to!, after, signal, () => progress.step());
    await to!.query('ANALYZE');
  });
  await compareDefinitions(target, database, [...content, ...after], signal);
}

/** Runs statements of pg_dump on one connection: the first ones set it up. */
async function execute(
  client: pg.Client,
  entries: readonly DumpEntry[],
  signal: AbortSignal,
  onEntry: () => void = () => undefined,
): Promise<void> {
  for (const { name, sql } of entries) {
    signal.throwIfAborted();
    await client.query(sql).catch((cause: unknown) => {
      throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    });
    onEntry();
  }
}

/** Copies tables on several connections beside each other. */
async function copyAllRows(
  source: RunningCluster,
  target: RunningCluster,
  database: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const tables = await withClients([source.connection(database)], ([client]) => listTables(client!));
  const count = Math.min(MAX_CONNECTIONS, availableParallelism(), tables.length);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const copies = Array.from({ length: count }, () =>
    withClients([source.connection(database), target.connection(database)], async ([from, to]) => {
      for (let table = tables.shift(); table; table = tables.shift())
        await copyOne(from!, to!, database, table, progress, either);
    }).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(copies)).find((copy) => copy.status === 'rejected');
  if (failed) throw stop.signal.reason;
}

async function copyOne(
  source: pg.Client,
  target: pg.Client,
  database: string,
  table: CopiedTable,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  progress.begin(`${database}.${table.name}`);
  const rows = await copyTable(source, target, table, (bytes) => progress.countCopied(bytes, table), signal);
  progress.end(table, rows);
}

/** The definitions of both are compared by their names: versions may write the same definition differently. */
async function compareDefinitions(
  target: RunningCluster,
  database: string,
  wanted: readonly DumpEntry[],
  signal: AbortSignal,
): Promise<void> {
  const found = new Set<string>();
  for (const { name } of splitDump(await dumpSchema(target, database, { signal }))) found.add(name);
  const missing = wanted.filter(({ name }) => !found.has(name) && !isOfDatabase(name));
  if (missing.length > 0) throw new Error(`The copy of ${database} lacks: ${missing[0]!.name}`);
}

/** Runs `work` with a connection to each of the databases. */
async function withClients<T>(
  databases: SessionConfig[],
  work: (clients: pg.Client[]) => Promise<T>,
): Promise<T> {
  const clients: pg.Client[] = [];
  try {
    for (const database of databases)
      clients.push(
        await openConnection({
          ...database,
          application_name: NAME,
          session: { ...SESSION, ...database.session },
        }),
      );
    return await work(clients);
  } finally {
    for (const client of clients) await client.end().catch(() => undefined);
  }
}
