import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '../cluster.js';
import { codeOf, EmbeddedDatabaseError, exists, unusableDirectory } from '../errors.js';
import { clusterDir, socketDirOf } from '../layout.js';
import { type EmbeddedLog, findServer, stopServer } from '../postmaster.js';
import { upgradePaths } from './upgrade-paths.js';

/** Suffixes of the directories of the sockets of an upgrade. */
export const SOCKETS = { former: '-former', new: '-new' };

const VERSION = 'PG_VERSION';
/** Name of that file in a cluster whose successor is complete: without the former name no release starts the cluster. */
const REPLACED = 'PG_VERSION.replaced';
const OLD = /^postgres-\d+\.old$/;
/** The programs, and what a killed npm has left. */
const PROGRAMS = /^upgrade(?:\.new-\w+)?$/;

/** Decides that the complete new cluster replaces this one, whose server may still run. `completeUpgrade` follows, at the latest in the next start. */
export async function markReplaced(cluster: string): Promise<void> {
  await rename(path.join(cluster, VERSION), path.join(cluster, REPLACED));
  await syncDirectory(cluster);
}

/**
 * Exchanges the clusters after `markReplaced`. Any number of processes may do this at once, and a later one continues where a
 * process has ended: a step that was done before fails and changes nothing.
 * @param major version of the new cluster
 */
export async function completeUpgrade(
  dataDir: string,
  major: string,
  log: Pick<EmbeddedLog, 'warn'>,
): Promise<void> {
  const cluster = clusterDir(dataDir);
  const from = await readFile(path.join(cluster, REPLACED), 'utf8').catch(() => undefined);
  const { ready, old } = upgradePaths(dataDir, from?.trim() ?? '', major);
  if (from !== undefined) {
    await stopServer(cluster, log);
    // A running server writes to the path that it was started with, which will be that of the new cluster.
    if ((await exists(path.join(cluster, REPLACED))) && (await findServer(cluster)))
      throw new EmbeddedDatabaseError(`The PostgreSQL of ${cluster} does not stop: end it and start again.`);
    await move(cluster, old);
  }
  if (!(await exists(cluster)) && (await exists(ready))) await move(ready, cluster);
  for (const name of await readdir(dataDir).catch(() => []))
    if (OLD.test(name)) await move(path.join(dataDir, name, REPLACED), path.join(dataDir, name, VERSION));
}

/** Renames durably. Another process may have been faster. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
    await syncDirectory(path.dirname(to));
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error)))
      throw unusableDirectory(path.dirname(to), error);
  }
}

/** Removes what a complete upgrade needs no longer: programs and directories of sockets. */
export async function removeRemains(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => []);
  const remains = names.filter((name) => PROGRAMS.test(name)).map((name) => path.join(dataDir, name));
  if (remains.length === 0) return;
  const sockets = Object.values(SOCKETS).map((key) => socketDirOf(dataDir, key));
  for (const directory of [...sockets, ...remains]) await rm(directory, { recursive: true, force: true });
}
