import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readVersion, syncDirectory } from '../cluster.js';
import { codeOf, EmbeddedDatabaseError, exists, unusableDirectory } from '../errors.js';
import { clusterDir, socketDirOf } from '../layout.js';
import { type EmbeddedLog, findServer, stopServer } from '../postmaster.js';
import { upgradePaths } from './upgrade-paths.js';

/** Suffixes of the directories of the sockets of an upgrade. */
export const SOCKETS = { former: '-former', new: '-new' };

const RENAMES_MS = 500;
const VERSION = 'PG_VERSION';
/** Name of that file in a cluster whose successor is complete: without the former name no release starts the cluster. */
const REPLACED = 'PG_VERSION.replaced';
/** Databases that an upgrade has left. */
const KEPT = /^postgres-\d+\.(?:old|ready)$/;
const OLD = /^postgres-\d+\.old$/;
/** The programs, and what a killed npm has left. */
const PROGRAMS = /^upgrade(?:\.new-\w+)?$/;

/** Decides that the complete new cluster replaces this one, whose server may still run. `completeUpgrade` follows, at the latest in the next start. */
export async function markReplaced(cluster: string): Promise<void> {
  try {
    await rename(path.join(cluster, VERSION), path.join(cluster, REPLACED));
    await syncDirectory(cluster);
  } catch (error) {
    throw unusableDirectory(cluster, error);
  }
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
  const isComplete = await hasVersion(ready, major);
  if (from !== undefined && !isComplete) {
    // After a faster process has exchanged the clusters, there is no such file.
    if (await exists(path.join(cluster, REPLACED)))
      log.warn(`The new database ${ready} is missing or incomplete: the upgrade begins again.`);
    await move(path.join(cluster, REPLACED), path.join(cluster, VERSION));
  } else if (from !== undefined) {
    await stopServer(cluster, log);
    // A running server writes to the path that it was started with, which will be that of the new cluster.
    if ((await exists(path.join(cluster, REPLACED))) && (await findServer(cluster)))
      throw new EmbeddedDatabaseError(`The PostgreSQL of ${cluster} does not stop: end it and start again.`);
    await move(cluster, old);
  }
  if (!(await exists(cluster)) && isComplete) await move(ready, cluster);
  await rejectMissing(dataDir, cluster);
  for (const name of await readdir(dataDir).catch(() => []))
    if (OLD.test(name)) await move(path.join(dataDir, name, REPLACED), path.join(dataDir, name, VERSION));
}

const hasVersion = (cluster: string, major: string): Promise<boolean> =>
  readFile(path.join(cluster, VERSION), 'utf8').then(
    (text) => text.trim() === major,
    () => false,
  );

/** An empty database beside one with content would look like the loss of all data. */
async function rejectMissing(dataDir: string, cluster: string): Promise<void> {
  const kept = (await readdir(dataDir).catch(() => [])).filter((name) => KEPT.test(name));
  if (kept.length === 0 || (await readVersion(cluster)) !== undefined) return;
  // Another process may be between the renames.
  await delay(RENAMES_MS);
  if ((await readVersion(cluster)) !== undefined) return;
  throw new EmbeddedDatabaseError(
    `${cluster} is missing, and an upgrade has left ${kept.join(' and ')} in ${dataDir}: rename the one to use to \`postgres\`, or ` +
      'move them away, and start again.',
  );
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
export async function removeRemains(dataDir: string, log: Pick<EmbeddedLog, 'warn'>): Promise<void> {
  const names = await readdir(dataDir).catch(() => []);
  const remains = names.filter((name) => PROGRAMS.test(name)).map((name) => path.join(dataDir, name));
  if (remains.length === 0) return;
  const sockets = Object.values(SOCKETS).map((key) => socketDirOf(dataDir, key));
  for (const directory of [...sockets, ...remains]) await removeQuietly(directory, log);
}

/** Removes a folder. A failure stops no start. */
export async function removeQuietly(directory: string, log: Pick<EmbeddedLog, 'warn'>): Promise<void> {
  await rm(directory, { recursive: true, force: true }).catch((error: unknown) =>
    log.warn(`Cannot remove ${directory}, which is needed no longer: ${String(error)}`),
  );
}
