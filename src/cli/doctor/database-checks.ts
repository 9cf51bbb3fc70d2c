import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { type CellAddress, cellAddresses, planDatabase } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { IANA_NAMES, Zone } from '../../lib/recurrence/index.js';
import { poolerOf } from '../../platform/database/connections/pooler.js';
import { PrimaryClient } from '../../platform/database/connections/primary-client.js';
import { TIMEOUTS } from '../../platform/database/connections/timeouts.js';
import {
  examineReplica,
  NoReplicaError,
  type ReplicaAddress,
} from '../../platform/database/replicas/standby.js';
import { needsMigration } from '../../platform/database/schema/migrate.js';
import { GID_PREFIX } from '../../platform/database/spanning-tx.js';
import { failureLine } from '../../runtime/failure-line.js';
import { Area, type Finding, reasonOf } from './finding.js';
import { checkCellWork, checkWork } from './work-checks.js';

const zones = new Area('time zones');
/** The first line is `# version 2026c`. */
const SYSTEM_DATA = '/usr/share/zoneinfo/tzdata.zi';
/** Differences that the message names. */
const MAX_NAMED = 10;
/** Months of this year and the next that are compared. */
const MONTHS = 24;

/** Compares the rules of time zones of Node, which all computations use (adr/0065), with those of PostgreSQL and of the system. */
export async function checkZones(client: pg.Client, nodeVersion = process.versions.tz): Promise<Finding> {
  const year = new Date().getUTCFullYear();
  const instants = Array.from({ length: MONTHS }, (_, month) => Date.UTC(year, month, 15) / 1000);
  const { rows } = await client.query<{ name: string; offsets: number[] }>(
    `SELECT zone.name, array_agg(
              extract(epoch FROM (to_timestamp(at) AT TIME ZONE zone.name) - (to_timestamp(at) AT TIME ZONE 'UTC'))::int ORDER BY at) AS offsets
       FROM pg_timezone_names zone CROSS JOIN unnest($2::float8[]) AS at
      WHERE zone.name = ANY ($1) GROUP BY zone.name ORDER BY zone.name`,
    [IANA_NAMES, instants],
  );
  const different = rows.filter(({ name, offsets }) => {
    const zone = Zone.of(name);
    return instants.some((at, n) => zone.measure(at) !== offsets[n]);
  });
  const system = await systemVersion();
  const names = different.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = different.length > MAX_NAMED ? ` and ${different.length - MAX_NAMED} more` : '';
  const message = [
    `All computations use the rules of Node, version ${nodeVersion}; the system has ${system ?? 'none or an unknown version'}.`,
    different.length === 0
      ? 'PostgreSQL has the same rules.'
      : `PostgreSQL has other rules for ${names.join(', ')}${more}.`,
  ].join(' ');
  return system !== null && nodeVersion !== undefined && system > nodeVersion
    ? zones.warning(message, 'Update Node: the system has newer rules.')
    : zones.ok(message);
}

async function systemVersion(): Promise<string | null> {
  try {
    return /^# version (\w+)/.exec(await readFile(SYSTEM_DATA, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

const cells = new Area('cells');
const replicasArea = new Area('replicas');
/** Age of a prepared transaction after which a running server would have finished it, seconds. */
const ABANDONED_SECONDS = 600;

/**
 * Checks the databases of cells other than `main` (docs/scaling.md). There are no findings without such cells.
 * @param directory a connection to the database of the directory
 */
export async function checkCells(
  config: Config,
  databaseUrl: string,
  directory: pg.Client,
): Promise<Finding[]> {
  let addresses: CellAddress[];
  try {
    addresses = await cellAddresses(config, databaseUrl);
  } catch (error) {
    return [
      cells.error(
        `The addresses of the cells cannot be read: ${reasonOf(error)}.`,
        'Set SECRET_KEYS as it was when the cells were added.',
      ),
    ];
  }
  const findings = checkNamesOfReplicas(config, addresses);
  for (const address of addresses) findings.push(...(await checkCell(config, address, directory)));
  return findings;
}

function checkNamesOfReplicas({ cellReplicas }: Config, known: readonly CellAddress[]): Finding[] {
  const names = new Set(cellReplicas.map(({ name }) => name));
  return [...names]
    .filter((name) => !known.some((cell) => cell.name === name))
    .map((name) =>
      replicasArea.warning(
        `CELL_REPLICA_URLS names the cell "${name}", which does not exist.`,
        'Correct the name ("workspace cell list"), or add the cell.',
      ),
    );
}

async function checkCell(
  config: Config,
  { name, url, schema, connection }: CellAddress,
  directory: pg.Client,
): Promise<Finding[]> {
  const client = new PrimaryClient({ ...connection, connectionTimeoutMillis: TIMEOUTS.connect });
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (needsMigration(await planDatabase(config, url, schema)))
      return [
        cells.error(
          `The cell "${name}" is not migrated to this version. Its workspaces get 503.`,
          'Run "workspace migrate".',
        ),
      ];
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_prepared_xacts
        WHERE gid LIKE $1 AND prepared < now() - make_interval(secs => $2)`,
      [`${GID_PREFIX}${name}:%`, ABANDONED_SECONDS],
    );
    const unfinished = rows[0]?.count ?? 0;
    const own =
      unfinished > 0
        ? cells.warning(
            `${unfinished} commits of the cell "${name}" are unfinished: their rows are locked.`,
            'Start a server: a job finishes them. If one runs, look for "cells.finish-commits" in its log.',
          )
        : cells.ok(`The cell "${name}" responds.`);
    const others = [
      ...(await checkReplicas(config.replicasOfCell(name), client, name)),
      ...(await checkCellWork(config, client, directory)),
    ];
    return [own, ...others.map((finding) => ({ ...finding, message: `Cell "${name}": ${finding.message}` }))];
  } catch (error) {
    return [
      cells.error(
        `The cell "${name}" cannot be read: ${reasonOf(error)}. Its workspaces get 503.`,
        'Start its database, or restore it. Run "workspace migrate" when its tables are missing.',
      ),
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}

const database = new Area('database');
const TIMEOUT_MS = 5_000;
/** WAL that a standby under load has not replayed yet, bytes. */
const USUAL_LAG = 16 * 1024 * 1024;
/** The version that the tests use. */
const TESTED_VERSION = 17;
/** Extensions of the indexes. */
const EXTENSIONS = ['btree_gin', 'pg_trgm'];
/** Difference of the clocks, seconds. */
const CLOCK = { warning: 2, error: 30 };

/** The finding for a database that cannot be used. */
export function reportUnreachable(error: unknown, config: Config): Finding {
  const message = failureLine(error, config) ?? `The database cannot be used: ${reasonOf(error)}.`;
  const action = config.embeddedDatabase
    ? `Read the log of PostgreSQL in ${config.DATA_DIR}/postgres/log.`
    : 'Check that PostgreSQL runs, and its address, user and password in DATABASE_URL.';
  return database.error(message, action);
}

/** Checks the server, the schema and the stored work. @throws when the database does not respond */
export async function checkDatabase(config: Config, url: string): Promise<Finding[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: 2 * TIMEOUT_MS,
  });
  // A connection that ends between two queries fails the next one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const server = [
      await checkServer(client),
      ...(config.embeddedDatabase ? [] : await checkPooler(url)),
      await checkExtensions(client),
      await checkClock(client),
      await checkZones(client),
    ];
    if (await isStandby(client)) return server;
    const replicas = await checkReplicas(config.replicaUrls, client);
    const schema = await checkSchema(config, url);
    const findings = [...server, ...replicas, ...schema, ...(await checkIndexes(client))];
    // The tables of an older version may lack columns that the other checks read.
    if (schema.some(({ status }) => status === 'error')) return findings;
    findings.push(await checkPrivileges(client), ...(await checkWork(config, client)));
    return [...findings, ...(await checkCells(config, url, client))];
  } finally {
    await client.end();
  }
}

/** The other checks open connections of the application, which refuse a standby. */
async function isStandby(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  return rows[0]!.standby;
}

/** Checks the standbys that serve reads. @param primary a connection to the database @param cell undefined: that of DATABASE_URL */
export async function checkReplicas(
  urls: readonly string[],
  primary: pg.Client,
  cell?: string,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const url of urls) findings.push(await checkReplica({ url, cell }, primary));
  return findings;
}

async function checkReplica({ url, cell }: ReplicaAddress, primary: pg.Client): Promise<Finding> {
  const { host, port } = new pg.Client({ connectionString: url });
  const name = `${host}:${port}`;
  try {
    const { follows, behind } = await examineReplica({ url, cell }, primary, TIMEOUT_MS);
    if (!follows)
      return replicasArea.warning(
        `The replica ${name} is not known to have the history of the primary since the last fail-over. Reads use the primary.`,
        'Make it follow the new primary (pg_rewind). It is recognised at once if its role has pg_read_all_stats, else within some minutes.',
      );
    const megabytes = Math.round(behind / 1024 ** 2);
    if (behind > USUAL_LAG)
      return replicasArea.warning(
        `The replica ${name} has not replayed ${megabytes} MB of changes. Reads use the primary.`,
        'Check its load, its connection to the primary, and long queries or a pause that hold its replay.',
      );
    return replicasArea.ok(`The replica ${name} is a standby of the database and follows it.`);
  } catch (error) {
    if (error instanceof NoReplicaError && error.state === 'primary')
      return replicasArea.ok(`${name} is the primary now. Reads will use it once it is a standby.`);
    return replicasArea.warning(
      `The replica ${name} cannot be used: ${reasonOf(error)}. Reads use the primary.`,
      `Check that it runs, or correct or remove its address in ${cell === undefined ? 'DATABASE' : 'CELL'}_REPLICA_URLS.`,
    );
  }
}

async function checkServer(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ version: string; number: number; size: string; readonly: boolean }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            pg_size_pretty(pg_database_size(current_database())) AS size, current_setting('transaction_read_only')::bool AS readonly`,
  );
  const { version, number, size, readonly } = rows[0]!;
  if (readonly)
    return database.error(
      `PostgreSQL ${version} responds, but accepts no writes: it is a replica or read-only.`,
      'Set DATABASE_URL to the primary server, or end the read-only mode (default_transaction_read_only).',
    );
  const message = `PostgreSQL ${version} responds; the database has ${size}.`;
  if (Math.floor(number / 10_000) >= TESTED_VERSION) return database.ok(message);
  return database.warning(
    message,
    `Upgrade to PostgreSQL ${TESTED_VERSION} or newer: older versions are not tested.`,
  );
}

/** There is no finding without a pooler. */
async function checkPooler(url: string): Promise<Finding[]> {
  const pooler = await poolerOf(url);
  if (pooler === 'session') return [database.ok('A pooler in session mode is in front of the database.')];
  if (pooler === 'none') return [];
  return [
    database.error(
      'A pooler in transaction mode is in front of the database: prepared statements, messages between processes and locks fail.',
      'Set its mode to session (PgBouncer: pool_mode = session), or set DATABASE_URL to PostgreSQL itself.',
    ),
  ];
}

async function checkExtensions(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ name: string; installed: boolean }>(
    `SELECT name, installed_version IS NOT NULL AS installed FROM pg_available_extensions WHERE name = ANY ($1)`,
    [EXTENSIONS],
  );
  const missing = EXTENSIONS.filter((name) => !rows.some((row) => row.name === name));
  if (missing.length > 0)
    return database.error(
      `The server does not offer the extensions ${missing.join(', ')}.`,
      'Install the contrib package of PostgreSQL on its machine.',
    );
  const created = rows.filter(({ installed }) => !installed).map(({ name }) => name);
  if (created.length === 0) return database.ok(`The extensions ${EXTENSIONS.join(', ')} exist.`);
  return database.warning(
    `The extensions ${created.join(', ')} are not created in this database.`,
    'Run workspace migrate as the owner of the database.',
  );
}

async function checkClock(client: pg.Client): Promise<Finding> {
  const before = Date.now();
  const { rows } = await client.query<{ now: string }>(
    `SELECT extract(epoch FROM clock_timestamp())::text AS now`,
  );
  // The server reads its clock about half-way through the round trip.
  const middle = (before + Date.now()) / 2_000;
  const difference = Math.abs(Number(rows[0]!.now) - middle);
  const message = `The clocks of this machine and of the database differ by ${difference.toFixed(1)} s.`;
  const action =
    'Synchronise both machines with NTP: lifetimes of tokens and reminders depend on the clocks.';
  if (difference > CLOCK.error) return database.error(message, action);
  return difference > CLOCK.warning ? database.warning(message, action) : database.ok(message);
}

async function checkSchema(config: Config, url: string): Promise<Finding[]> {
  const { pending, unknown, functions } = await planDatabase(config, url);
  const findings: Finding[] = [];
  if (pending.length > 0)
    findings.push(
      database.error(
        `${pending.length} migrations are pending, the first is ${pending[0]}.`,
        'Run workspace migrate, or restart the servers with this version.',
      ),
    );
  else if (functions === 'changed')
    findings.push(
      database.error('The stored functions are not those of this version.', 'Run workspace migrate.'),
    );
  if (unknown.length > 0 || functions === 'newer')
    findings.push(
      database.warning(
        'A newer version has migrated the database.',
        'Use that version of the workspace command and of the servers.',
      ),
    );
  return findings.length > 0 ? findings : [database.ok('The schema is up to date.')];
}

async function checkIndexes(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE NOT (indisvalid AND indisready) AND indrelid NOT IN (SELECT relid FROM pg_stat_progress_create_index) ORDER BY 1`,
  );
  return rows.map(({ name }) =>
    database.error(
      `The index ${name} is invalid: an interrupted creation left it behind.`,
      `Run REINDEX INDEX CONCURRENTLY ${name}.`,
    ),
  );
}

async function checkPrivileges(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ role: string; superuser: boolean; lacking: string[] }>(
    `SELECT current_user AS role, current_setting('is_superuser')::bool AS superuser,
            ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
                     AND relname NOT IN ('schema_migrations', 'schema_sql')
                     AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                              AND has_table_privilege(oid, 'DELETE')) ORDER BY 1) AS lacking`,
  );
  const { role, superuser, lacking } = rows[0]!;
  if (lacking.length > 0)
    return database.error(
      `The role ${role} lacks privileges on ${lacking.length} tables, e.g. ${lacking[0]}.`,
      'Grant them as docs/database-roles.md shows.',
    );
  const embedded = client.host?.startsWith('/') ?? false;
  if (superuser && !embedded)
    return database.warning(
      `The role ${role} is a superuser: a leaked DATABASE_URL gives control over the whole server.`,
      'Use a role that owns only this database, or two roles (docs/database-roles.md).',
    );
  return database.ok(`The role ${role} has the privileges that it needs.`);
}
