import type pg from 'pg';
import { type CellAddress, cellAddresses, planDatabase } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { PrimaryClient } from '../../platform/database/connections/primary-client.js';
import { TIMEOUTS } from '../../platform/database/connections/timeouts.js';
import { needsMigration } from '../../platform/database/schema/migration-plan.js';
import { GID_PREFIX } from '../../platform/database/spanning-tx.js';
import { Area, type Finding, reasonOf } from './finding.js';
import { checkCellWork } from './work-checks.js';

const area = new Area('cells');
/** Age of a prepared transaction after which a running server would have finished it, seconds. */
const ABANDONED_SECONDS = 600;

/**
 * Checks the databases of cells other than `main` (docs/scaling.md). Without such cells: no findings.
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
      area.error(
        `The addresses of the cells cannot be read: ${reasonOf(error)}.`,
        'Set SECRET_KEYS as it was when the cells were added.',
      ),
    ];
  }
  const findings: Finding[] = [];
  for (const address of addresses) findings.push(...(await checkCell(config, address, directory)));
  return findings;
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
        area.error(
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
        ? area.warning(
            `${unfinished} commits of the cell "${name}" are unfinished: their rows are locked.`,
            'Start a server: a job finishes them. If one runs, look for "cells.finish-commits" in its log.',
          )
        : area.ok(`The cell "${name}" responds.`);
    const work = await checkCellWork(config, client, directory);
    return [own, ...work.map((finding) => ({ ...finding, message: `Cell "${name}": ${finding.message}` }))];
  } catch (error) {
    return [
      area.error(
        `The cell "${name}" cannot be read: ${reasonOf(error)}. Its workspaces get 503.`,
        'Start its database, or restore it. Run "workspace migrate" when its tables are missing.',
      ),
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}
