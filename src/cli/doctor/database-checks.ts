import pg from 'pg';
import { planDatabase } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { poolerOf } from '../../platform/database/connections/pooler.js';
import { failureLine } from '../../runtime/failure-line.js';
import { checkCells } from './cell-checks.js';
import { Area, type Finding, reasonOf } from './finding.js';
import { checkReplicas } from './replica-checks.js';
import { checkWork } from './work-checks.js';
import { checkZones } from './zone-checks.js';

const area = new Area('database');
const TIMEOUT_MS = 5_000;
/** The version that the tests use. */
const TESTED_VERSION = 17;
/** Extensions of the indexes. */
const EXTENSIONS = ['btree_gin', 'pg_trgm'];
/** Difference of the clocks, seconds. */
const CLOCK = { warning: 2, error: 30 };

/** The finding for a database that cannot be used. */
export function unreachable(error: unknown, config: Config): Finding {
  const message = failureLine(error, config) ?? `The database cannot be used: ${reasonOf(error)}.`;
  const action = config.embeddedDatabase
    ? `Read the log of PostgreSQL in ${config.DATA_DIR}/postgres/log.`
    : 'Check that PostgreSQL runs, and its address, user and password in DATABASE_URL.';
  return area.error(message, action);
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
    const replicas = await checkReplicas(config, client);
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

async function checkServer(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ version: string; number: number; size: string; readonly: boolean }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            pg_size_pretty(pg_database_size(current_database())) AS size, current_setting('transaction_read_only')::bool AS readonly`,
  );
  const { version, number, size, readonly } = rows[0]!;
  if (readonly)
    return area.error(
      `PostgreSQL ${version} responds, but accepts no writes: it is a replica or read-only.`,
      'Set DATABASE_URL to the primary server, or end the read-only mode (default_transaction_read_only).',
    );
  const message = `PostgreSQL ${version} responds; the database has ${size}.`;
  if (Math.floor(number / 10_000) >= TESTED_VERSION) return area.ok(message);
  return area.warning(
    message,
    `Upgrade to PostgreSQL ${TESTED_VERSION} or newer: older versions are not tested.`,
  );
}

/** No finding without a pooler. */
async function checkPooler(url: string): Promise<Finding[]> {
  const pooler = await poolerOf(url);
  if (pooler === 'session') return [area.ok('A pooler in session mode is in front of the database.')];
  if (pooler === 'none') return [];
  return [
    area.error(
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
    return area.error(
      `The server does not offer the extensions ${missing.join(', ')}.`,
      'Install the contrib package of PostgreSQL on its machine.',
    );
  const created = rows.filter(({ installed }) => !installed).map(({ name }) => name);
  if (created.length === 0) return area.ok(`The extensions ${EXTENSIONS.join(', ')} exist.`);
  return area.warning(
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
  if (difference > CLOCK.error) return area.error(message, action);
  return difference > CLOCK.warning ? area.warning(message, action) : area.ok(message);
}

async function checkSchema(config: Config, url: string): Promise<Finding[]> {
  const { pending, unknown, functions } = await planDatabase(config, url);
  const findings: Finding[] = [];
  if (pending.length > 0)
    findings.push(
      area.error(
        `${pending.length} migrations are pending, the first is ${pending[0]}.`,
        'Run workspace migrate, or restart the servers with this version.',
      ),
    );
  else if (functions === 'changed')
    findings.push(
      area.error('The stored functions are not those of this version.', 'Run workspace migrate.'),
    );
  if (unknown.length > 0 || functions === 'newer')
    findings.push(
      area.warning(
        'A newer version has migrated the database.',
        'Use that version of the workspace command and of the servers.',
      ),
    );
  return findings.length > 0 ? findings : [area.ok('The schema is up to date.')];
}

async function checkIndexes(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE NOT (indisvalid AND indisready) AND indrelid NOT IN (SELECT relid FROM pg_stat_progress_create_index) ORDER BY 1`,
  );
  return rows.map(({ name }) =>
    area.error(
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
    return area.error(
      `The role ${role} lacks privileges on ${lacking.length} tables, e.g. ${lacking[0]}.`,
      'Grant them as docs/database-roles.md shows.',
    );
  const embedded = client.host?.startsWith('/') ?? false;
  if (superuser && !embedded)
    return area.warning(
      `The role ${role} is a superuser: a leaked DATABASE_URL gives control over the whole server.`,
      'Use a role that owns only this database, or two roles (docs/database-roles.md).',
    );
  return area.ok(`The role ${role} has the privileges that it needs.`);
}
