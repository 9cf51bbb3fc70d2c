import type pg from 'pg';
import type { Config } from '../../config/config.js';
import { MIB } from '../../platform/blobs/file-limits.js';
import { outboxState } from '../../platform/events/outbox.js';
import { secretKeyIds } from '../../platform/secrets/secret-box.js';
import { Area, duration, type Finding } from './finding.js';

/** Age of the oldest pending event, seconds. A running server delivers events within seconds. */
const OUTBOX = { warning: 300, error: 3_600 };
/** Age of the signing key after which a new one is due, days. */
const KEY_DAYS = 400;
/** Intervals after which a job is overdue. Jobs wait for each other and for the start of a server. */
const OVERDUE_INTERVALS = 3;
const OVERDUE_SECONDS = 900;

/** Share of a limit for files from which it is reported. */
const NEARLY_FULL = 0.9;
/** Maximum number of workspaces that a finding names. */
const MAX_NAMED = 5;

/** Checks stored events, jobs, secrets and limits for files. */
export async function checkWork(config: Config, client: pg.Client): Promise<Finding[]> {
  return [
    ...(await checkOutbox(client)),
    ...(await checkJobs(client)),
    ...(await checkSecrets(config, client)),
    ...(await checkPushKeys(config, client)),
    ...(await checkFileLimits(config, client)),
  ];
}

/**
 * Checks stored events, jobs and limits for files in a cell.
 * @param directory has the names of workspaces
 */
export async function checkCellWork(
  config: Config,
  cell: pg.Client,
  directory: pg.Client,
): Promise<Finding[]> {
  return [
    ...(await checkOutbox(cell)),
    ...(await checkJobs(cell)),
    ...(await checkFileLimits(config, cell, directory)),
  ];
}

async function checkOutbox(client: pg.Client): Promise<Finding[]> {
  const area = new Area('outbox');
  const { rows } = await client.query<{ state: string; events: number; oldest: number }>(outboxState.text);
  const of = (state: string) => rows.find((row) => row.state === state) ?? { events: 0, oldest: 0 };
  const [pending, retrying, parked] = [of('pending'), of('retrying'), of('parked')];
  const findings: Finding[] = [];
  const age = `${pending.events} events are pending, the oldest for ${duration(pending.oldest)}.`;
  const action = 'Start a server, or look for "delivery of the outbox failed" in its log.';
  if (pending.oldest > OUTBOX.error) findings.push(area.error(age, action));
  else if (pending.oldest > OUTBOX.warning) findings.push(area.warning(age, action));
  if (retrying.oldest > OUTBOX.error)
    findings.push(
      area.warning(
        `${retrying.events} events are retried, the oldest for ${duration(retrying.oldest)}.`,
        'Read last_error in the table outbox. Often a mail relay or another service does not respond.',
      ),
    );
  if (parked.events > 0)
    findings.push(
      area.warning(
        `${parked.events} events are parked after 12 attempts.`,
        'Read type and last_error of the rows with parked_at in the table outbox. Set parked_at to NULL and attempts to 0 to retry them.',
      ),
    );
  return findings.length > 0
    ? findings
    : [area.ok(`${pending.events + retrying.events} events wait for their delivery.`)];
}

/** A run that never ends, or ends its process, has neither a success nor a failure. */
async function checkJobs(client: pg.Client): Promise<Finding[]> {
  const area = new Area('jobs');
  const { rows } = await client.query<{
    name: string;
    error: string | null;
    failed: number | null;
    late: number | null;
  }>(
    `SELECT name, error, extract(epoch FROM now() - failed_at)::float8 AS failed,
            CASE WHEN least(ran_at, succeeded) < now() - make_interval(secs => $1 * every_seconds + $2)
                 THEN extract(epoch FROM now() - least(ran_at, succeeded))::float8 END AS late
       FROM job_runs, LATERAL (SELECT CASE WHEN failed_at IS NULL THEN succeeded_at END AS succeeded) AS last ORDER BY name`,
    [OVERDUE_INTERVALS, OVERDUE_SECONDS],
  );
  const findings = rows.flatMap(({ name, error, failed }) =>
    failed === null
      ? []
      : [
          area.warning(
            `The job ${name} failed ${duration(failed)} ago: ${error ?? 'unknown error'}.`,
            'Read the log of the servers at that time. The job runs again at its next interval.',
          ),
        ],
  );
  const late = rows.flatMap(({ name, late: seconds }) => (seconds === null ? [] : [{ name, seconds }]));
  if (late.length > 0) {
    const [{ name, seconds }] = late as [(typeof late)[0]];
    findings.push(
      area.warning(
        `${late.length} jobs are overdue, e.g. ${name}: its last success was ${duration(seconds)} ago.`,
        'Start a server. If one runs, look for "job" in its log.',
      ),
    );
  }
  return findings.length > 0 ? findings : [area.ok(`The last runs of all ${rows.length} jobs succeeded.`)];
}

async function checkSecrets(config: Config, client: pg.Client): Promise<Finding[]> {
  const area = new Area('secrets');
  const { rows } = await client.query<{ key: string | null; days: number }>(
    `SELECT split_part(sealed_private_key, '.', 1) AS key, extract(epoch FROM now() - created_at)::float8 / 86400 AS days
       FROM signing_keys WHERE retired_at IS NULL ORDER BY created_at DESC`,
  );
  const findings: Finding[] = [];
  const known = knownSecretKeys(config);
  const lost = rows.find(({ key }) => key !== null && !known.has(key));
  if (lost)
    findings.push(
      area.error(
        `SECRET_KEYS lacks the key ${lost.key}: the signing key of tokens cannot be decrypted.`,
        'Add the earlier key to SECRET_KEYS, behind the current one.',
      ),
    );
  if (config.secretKeys.length === 0 && !config.embeddedDatabase)
    findings.push(
      area.warning(
        'SECRET_KEYS is not set: a copy of the database suffices to read stored secrets.',
        'Set SECRET_KEYS from your secret store and restart the servers.',
      ),
    );
  const [newest] = rows;
  if (newest && newest.days > KEY_DAYS)
    findings.push(
      area.warning(
        `The signing key of tokens is ${duration(newest.days * 86_400)} old.`,
        'Run workspace keys rotate.',
      ),
    );
  if (findings.length > 0) return findings;
  return [
    area.ok(
      newest ? `The signing key is ${duration(newest.days * 86_400)} old.` : 'No signing key exists yet.',
    ),
  ];
}

/** The first part of a sealed text: the ids of SECRET_KEYS, and the key that the database has without them. */
const knownSecretKeys = (config: Config): Set<string> => new Set([...secretKeyIds(config), 'own']);

/** Messages to a device need the key with which it has subscribed. */
async function checkPushKeys(config: Config, client: pg.Client): Promise<Finding[]> {
  const area = new Area('push-keys');
  const { rows } = await client.query<{ key: string; days: number }>(
    `SELECT split_part(sealed_private_key, '.', 1) AS key, extract(epoch FROM now() - created_at)::float8 / 86400 AS days
       FROM push_keys ORDER BY id DESC`,
  );
  const known = knownSecretKeys(config);
  const lost = rows.filter(({ key }) => !known.has(key));
  const [first] = lost;
  if (first)
    return [
      area.warning(
        `SECRET_KEYS lacks the key ${first.key}: ${lost.length} of ${rows.length} keys of push messages cannot be decrypted, and devices that subscribed with them get no messages.`,
        'Add the earlier key to SECRET_KEYS, behind the current one. Otherwise these devices subscribe again when their page is opened.',
      ),
    ];
  const [newest] = rows;
  return [
    area.ok(
      newest
        ? `${rows.length} keys of push messages exist, the newest is ${duration(newest.days * 86_400)} old.`
        : 'No key of push messages exists yet.',
    ),
  ];
}

/** Workspaces whose files nearly reach their limit: members cannot upload any more when it is reached. */
async function checkFileLimits(
  { FILES_LIMIT_MB }: Config,
  client: pg.Client,
  directory = client,
): Promise<Finding[]> {
  const area = new Area('file-limits');
  const { rows } = await client.query<{ tenant_id: string; percent: number }>(
    `SELECT tenant_id, floor(100.0 * bytes / own.limit_bytes)::int AS percent
       FROM file_usage CROSS JOIN LATERAL (SELECT coalesce(file_usage.limit_bytes, $1::bigint) AS limit_bytes) AS own
      WHERE own.limit_bytes > 0 AND bytes >= $2::float8 * own.limit_bytes ORDER BY percent DESC, tenant_id`,
    [FILES_LIMIT_MB * MIB, NEARLY_FULL],
  );
  if (rows.length === 0) return [area.ok('No workspace is near its limit.')];
  const fullest = rows.slice(0, MAX_NAMED);
  const names = await directory.query<{ id: string; slug: string }>(
    'SELECT id, slug FROM tenants WHERE id = ANY ($1)',
    [fullest.map(({ tenant_id }) => tenant_id)],
  );
  const slugOf = new Map(names.rows.map(({ id, slug }) => [id, slug]));
  const list = fullest.map(
    ({ tenant_id, percent }) => `${slugOf.get(tenant_id) ?? tenant_id} (${percent} %)`,
  );
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : '';
  return [
    area.warning(
      `Files of ${rows.length} workspaces use at least 90 % of their limit: ${list.join(', ')}${more}.`,
      'Raise the limit with "workspace tenant limits --tenant SLUG --files MIB", or ask the owners to delete files.',
    ),
  ];
}
