import { chmod, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { codeOf, EmbeddedDatabaseError, failedProgram, unusableDirectory } from './errors.js';
import { runProgram } from './run-program.js';

/** The role that owns the cluster and that the application connects as. */
export const SUPERUSER = 'postgres';

/** Of folders that a later start removes. */
export const NEW_PREFIX = 'postgres.new-';
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * PostgreSQL's built-in C.UTF-8 compares text and changes its case, in the same way on every machine. LC_CTYPE comes from the
 * system and only distinguishes letters from other characters in pg_trgm and text search; plain `C` recognises ASCII only.
 */
const CTYPES = ['C.UTF-8', 'en_US.UTF-8', 'C'];

/**
 * Creates the cluster on the first open and checks it on later ones.
 * @returns true when this call created it
 */
export async function ensureCluster(cluster: string, account: Account, binaries: Binaries): Promise<boolean> {
  const version = await readVersion(cluster);
  await removeAbandoned(path.dirname(cluster));
  if (version === undefined) return createCluster(cluster, account, binaries);
  if (version !== binaries.major) {
    throw new EmbeddedDatabaseError(
      `${cluster} was created by PostgreSQL ${version} and this is PostgreSQL ${binaries.major}: ` +
        'dump it with the old version and restore it, or choose another DATA_DIR.',
    );
  }
  await restoreOwner(cluster, account);
  return false;
}

/** A copy or a restored backup may have lost its owner and mode; PostgreSQL accepts no others. */
export async function restoreOwner(cluster: string, account: Account): Promise<void> {
  await account.give(cluster);
  if (((await stat(cluster)).mode & 0o077) !== 0) await chmod(cluster, 0o700);
}

/** The major version of a cluster; undefined: it is missing or empty. @throws EmbeddedDatabaseError for another folder */
export async function readVersion(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unusableDirectory(cluster, error);
  }
  const entries = await readdir(cluster).catch(() => []);
  if (entries.length === 0) return undefined;
  throw new EmbeddedDatabaseError(`${cluster} exists and is not a PostgreSQL database; move it away.`);
}

/** Creates it under a temporary name and renames it, so that an interrupted initdb never looks like a database. */
export async function createCluster(cluster: string, account: Account, binaries: Binaries): Promise<boolean> {
  const dataDir = path.dirname(cluster);
  const temporary = await mkdtemp(path.join(dataDir, NEW_PREFIX)).catch((error: unknown) => {
    throw unusableDirectory(dataDir, error);
  });
  try {
    await chmod(temporary, 0o700);
    await account.give(temporary);
    await initialize(temporary, account, binaries);
    await rename(temporary, cluster);
    await syncDirectory(dataDir);
    return true;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process was faster; its cluster is equivalent.
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false;
    throw error instanceof EmbeddedDatabaseError ? error : unusableDirectory(dataDir, error);
  }
}

async function initialize(directory: string, account: Account, binaries: Binaries): Promise<void> {
  let output = '';
  for (const ctype of CTYPES) {
    const result = await runProgram(account.command(binaries.initdb, initdbArguments(directory, ctype)));
    if (result.code === 0) return;
    output = result.output;
    if (!/invalid locale name/.test(output)) break;
  }
  throw failedProgram('initdb', output, path.dirname(directory));
}

function initdbArguments(directory: string, ctype: string): string[] {
  const options = {
    pgdata: directory,
    username: SUPERUSER,
    encoding: 'UTF8',
    'locale-provider': 'builtin',
    'builtin-locale': 'C.UTF-8',
    locale: 'C',
    'lc-ctype': ctype,
    // The only access is a socket in a private directory. A password would be stored beside it and protect nothing.
    auth: 'trust',
  };
  return ['--data-checksums', ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)];
}

/** Makes renames in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes the directories of killed initdb runs. A recent one may belong to a running process. */
async function removeAbandoned(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => []);
  for (const name of names.filter((entry) => entry.startsWith(NEW_PREFIX))) {
    const directory = path.join(dataDir, name);
    const found = await stat(directory).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(directory, { recursive: true, force: true });
    }
  }
}
