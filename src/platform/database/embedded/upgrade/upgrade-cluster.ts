import { mkdir, mkdtemp, rename, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { Account } from '../account.js';
import type { Binaries } from '../binaries.js';
import { createCluster, NEW_PREFIX, syncDirectory } from '../cluster.js';
import { codeOf, EmbeddedDatabaseError, exists, failedProgram, unusableDirectory } from '../errors.js';
import { clusterDir, ensureSocketDir, SOCKET_PORT } from '../layout.js';
import { type EmbeddedLog, isShutDown, killServer, Postmaster } from '../postmaster.js';
import { runProgram } from '../run-program.js';
import type { ServerSettings } from '../settings.js';
import { copyCluster, inspectCluster, type RunningCluster } from './copy-cluster.js';
import { finishCommits } from './finish-commits.js';
import { fetchPrograms } from './former-programs.js';
import { FormerServer } from './former-server.js';
import {
  completeUpgrade,
  markReplaced,
  removeQuietly,
  removeRemains,
  SOCKETS,
} from './interrupted-upgrade.js';
import { Progress } from './progress.js';
import { type UpgradePaths, upgradePaths } from './upgrade-paths.js';

/** An upgrade of the cluster in a data directory to another major version of PostgreSQL. */
export interface Upgrade {
  dataDir: string;
  /** Database of the directory. */
  directory: string;
  /** Major version of the cluster. */
  from: string;
  /** The programs that will serve it. */
  binaries: Binaries;
  log: EmbeddedLog;
  /** Ends the upgrade; the former cluster stays. */
  signal: AbortSignal;
}

/** The new cluster is worthless until it is complete, and is made durable then: a start after a crash makes it again. */
const FILL: ServerSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  maintenance_work_mem: '256MB',
};

/** Time for the last checkpoint of the new cluster, which writes everything that was copied. A signal ends it. */
const CHECKPOINT_MS = 3_600_000;
const MEBIBYTE = 2 ** 20;
/** Space beyond that of the former cluster: WAL, and the databases of an empty cluster. */
const RESERVE_BYTES = 512 * MEBIBYTE;

/**
 * Copies the cluster into a new one of this version beside it, then exchanges them (ADR 79). The former cluster is only read; it is
 * kept as `postgres-<from>.old`, for the operator to remove. An upgrade whose process ends during the copy starts again at the next
 * start; later ones continue.
 *
 * @throws DataDirInUseError while another process uses the cluster
 * @throws EmbeddedDatabaseError when it fails; the former cluster is in its place
 */
export async function upgradeCluster(upgrade: Upgrade): Promise<void> {
  const { dataDir, from, binaries, log, signal } = upgrade;
  const cluster = clusterDir(dataDir);
  const paths = upgradePaths(dataDir, from, binaries.major);
  await rejectFormerUpgrade(cluster, paths);
  await rejectMountPoint(dataDir, cluster);
  log.info(`The database is of PostgreSQL ${from} and is copied into one of PostgreSQL ${binaries.major}.`);
  const programs = await fetchPrograms(paths.programs, from, log, signal);
  const former = await FormerServer.open(dataDir, cluster, programs, log);
  try {
    await makeCopy(upgrade, former.running, paths).catch(async (error: unknown) => {
      await removeQuietly(paths.incomplete, log);
      throw signal.aborted ? error : failedUpgrade(error, cluster, binaries.major);
    });
    await markReplaced(cluster);
  } finally {
    // The next step stops it again.
    await former.close().catch((error: unknown) => log.warn(`The former PostgreSQL: ${String(error)}`));
  }
  await completeUpgrade(dataDir, binaries.major, log);
  await removeRemains(dataDir, log);
  log.info(
    `The database is of PostgreSQL ${binaries.major} now. Remove ${paths.old} once you do not need it.`,
  );
}

function failedUpgrade(error: unknown, cluster: string, major: string): EmbeddedDatabaseError {
  if (error instanceof EmbeddedDatabaseError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EmbeddedDatabaseError(
    `The upgrade of the database to PostgreSQL ${major} failed: ${reason.trim()}. Nothing was changed: ` +
      `the former release still serves ${cluster}.`,
    { cause: error },
  );
}

async function rejectFormerUpgrade(cluster: string, { ready, old }: UpgradePaths): Promise<void> {
  if (!(await exists(old))) return;
  throw new EmbeddedDatabaseError(
    (await exists(ready))
      ? `A former release has created ${cluster} during an upgrade, whose result is ${ready}: move ${cluster} away and start again.`
      : `${old} is the database before an earlier upgrade: move it away and start again.`,
  );
}

/** The exchange renames the cluster, which is not possible for a mount point. The trial renames nothing: its target is not empty. */
async function rejectMountPoint(dataDir: string, cluster: string): Promise<void> {
  const target = await mkdtemp(path.join(dataDir, NEW_PREFIX)).catch((error: unknown) => {
    throw unusableDirectory(dataDir, error);
  });
  try {
    await mkdir(path.join(target, 'entry'));
    await rename(cluster, target);
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return;
    if (!['EBUSY', 'EXDEV'].includes(codeOf(error))) throw unusableDirectory(dataDir, error);
    throw new EmbeddedDatabaseError(
      `${cluster} is a mount point, which the upgrade cannot rename: mount ${dataDir} instead, with the database in its folder ` +
        `\`postgres\`, and start again.`,
      { cause: error },
    );
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

async function makeCopy(
  { dataDir, directory, binaries, log, signal }: Upgrade,
  source: RunningCluster,
  paths: UpgradePaths,
): Promise<void> {
  await killServer(paths.incomplete);
  for (const folder of [paths.incomplete, paths.ready]) await rm(folder, { recursive: true, force: true });
  await finishCommits(source.connection, directory);
  const { bytes, size, unsupported } = await inspectCluster(source);
  if (unsupported.length > 0)
    throw new Error(`the cluster has contents that it cannot copy (${unsupported.join(', ')})`);
  await rejectFullDisk(dataDir, size + RESERVE_BYTES);
  signal.throwIfAborted();
  const account = await Account.choose(dataDir, clusterDir(dataDir), binaries);
  await createCluster(paths.incomplete, account, binaries);
  const socketDir = await ensureSocketDir(dataDir, account, SOCKETS.new);
  const postmaster = new Postmaster(dataDir, paths.incomplete, socketDir, account, binaries, log, FILL);
  // Statements that run for long, such as the creation of an index, end with their server.
  const stop = () => void killServer(paths.incomplete).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await (await postmaster.connect()).end();
    const socket = path.join(socketDir, `.s.PGSQL.${SOCKET_PORT}`);
    const target = {
      socket,
      pgDump: source.pgDump,
      connection: (name: string) => postmaster.connection(name),
    };
    await copyCluster(source, target, new Progress(log, bytes), signal);
    await postmaster.stop(CHECKPOINT_MS);
  } finally {
    signal.removeEventListener('abort', stop);
    // A failure must not hide that of the copy; the check below finds a server that goes on.
    await killServer(paths.incomplete).catch((error: unknown) => log.warn(String(error)));
  }
  signal.throwIfAborted();
  if (!(await isShutDown(paths.incomplete)))
    throw new Error('the PostgreSQL of the new database did not stop cleanly');
  const sync = account.command(binaries.initdb, ['--sync-only', '-D', paths.incomplete]);
  const { code, output } = await runProgram(sync, signal);
  signal.throwIfAborted();
  if (code !== 0) throw failedProgram('initdb', output, dataDir);
  await rename(paths.incomplete, paths.ready);
  await syncDirectory(dataDir);
}

async function rejectFullDisk(dataDir: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free >= needed) return;
  const [neededMb, freeMb] = [needed, free].map((bytes) => Math.ceil(bytes / MEBIBYTE));
  throw new EmbeddedDatabaseError(
    `The upgrade of the database needs ${neededMb} MiB in ${dataDir}, and ${freeMb} MiB are free: make room and start again.`,
  );
}
