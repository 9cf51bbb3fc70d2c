import pg from 'pg';
import type { Config } from '../../config/config.js';
import { examineReplica } from '../../platform/database/replicas/standby-check.js';
import { Area, type Finding, reasonOf } from './finding.js';

const area = new Area('replicas');
const TIMEOUT_MS = 5_000;
/** WAL that a standby under load has not replayed yet, bytes. */
const USUAL_LAG = 16 * 1024 * 1024;

/** Checks the standbys that serve reads. @param primary a connection to the database */
export async function checkReplicas(config: Config, primary: pg.Client): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const url of config.replicaUrls) findings.push(await checkReplica(url, primary));
  return findings;
}

async function checkReplica(url: string, primary: pg.Client): Promise<Finding> {
  const { host, port } = new pg.Client({ connectionString: url });
  const name = `${host}:${port}`;
  try {
    const { follows, behind } = await examineReplica(url, primary, TIMEOUT_MS);
    if (!follows)
      return area.warning(
        `The replica ${name} is not known to have the history of the primary since the last fail-over. Reads use the primary.`,
        'Make it follow the new primary (pg_rewind). It is recognised at once if its role has pg_read_all_stats, else within some minutes.',
      );
    const megabytes = Math.round(behind / 1024 ** 2);
    if (behind > USUAL_LAG)
      return area.warning(
        `The replica ${name} has not replayed ${megabytes} MB of changes. Reads use the primary.`,
        'Check its load, its connection to the primary, and long queries or a pause that hold its replay.',
      );
    return area.ok(`The replica ${name} is a standby of the database and follows it.`);
  } catch (error) {
    return area.warning(
      `The replica ${name} cannot be used: ${reasonOf(error)}. Reads use the primary.`,
      'Check that it runs, or correct or remove its address in DATABASE_REPLICA_URLS.',
    );
  }
}
