import { chmod, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { codeOf, EmbeddedDatabaseError, failedProgram, unusableDirectory } from './errors.js';
import { runProgram } from './run-program.js';

/** The role that owns the cluster and that the application connects as. */
export const SUPERUSER = 'postgres';

const NEW_PREFIX = 'postgres.new-';
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Text compares and folds by PostgreSQL's own C.UTF-8, the same on every machine. LC_CTYPE is the system's and only
 * tells letters from other characters in pg_trgm and text search; with plain `C` they would know ASCII alone.
 */
const CTYPES = ['C.UTF-8', 'en_US.UTF-8', 'C'];

/**
 * Makes the cluster on the first open and checks it on later ones.
 * @returns true when it was made now
 */
export async function ensureCluster(cluster: string, account: Account, binaries: Binaries): Promise<boolean> {
  const version = await readVersion(cluster);
  if (version === undefined) {
    await removeAbandoned(path.dirname(cluster));
    return createCluster(cluster, account, binaries);
  }
  if (version !== binaries.major) {
    throw new EmbeddedDatabaseError(
      `${cluster} was made by PostgreSQL ${version} and this is PostgreSQL ${binaries.major}: ` +
        'dump it with the old version and restore it, or choose another DATA_DIR.',
    );
  }
  // A copy or a backup that was put back may have lost its owner and mode; PostgreSQL accepts no other.
  await account.give(cluster);
  if (((await stat(cluster)).mode & 0o077) !== 0) await chmod(cluster, 0o700);
  return false;
}

async function readVersion(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unusableDirectory(cluster, error);
  }
  const entries = await readdir(cluster).catch(() => []);
  if (entries.length === 0) return undefined;
  throw new EmbeddedDatabaseError(`${cluster} exists and is not a PostgreSQL database; move it away.`);
}

/** Made beside its place and renamed into it, so that an interrupted initdb is never mistaken for a database. */
async function createCluster(cluster: string, account: Account, binaries: Binaries): Promise<boolean> {
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
    // Another process was faster: its cluster is as good as ours.
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
    // The only way in is a socket in a directory nobody else can enter; a password beside it would guard nothing.
    auth: 'trust',
  };
  return ['--data-checksums', ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)];
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What a killed initdb left behind. Young ones may be at work in another process. */
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
