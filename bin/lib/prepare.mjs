// Brings a clone into a state in which it can run: dependencies installed, sources built. Runs on any Node from 20 on,
// before node_modules exists, and takes a few milliseconds when nothing has changed.
// Messages go to stderr; stdout belongs to the program that is started next.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { BUNDLE, PROGRAMS, writePrograms } from './programs.mjs';
import { FORWARDED } from './run.mjs';

/** The directory of the clone. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

const MODULES = path.join(ROOT, 'node_modules');
const BIN = path.join(MODULES, '.bin');
const LOCK_FILE = path.join(ROOT, 'package-lock.json');
const INSTALLED = path.join(MODULES, '.workspace-lock-hash');
const DIST = path.join(ROOT, 'dist');
/** In a directory of output: the compiler, and the sources that it compiled. While it compiles, and after a failure, the stamp is missing. */
const STAMP = '.workspace-build.json';
const INCREMENTAL = '.incremental.tsbuildinfo';
const [SWC, TSC] = ['swc', 'tsc'];
/** The exit code of compile-by-swc.mjs on a machine for which swc has no binary. */
export const NO_SWC = 3;
const MIN_NODE_MAJOR = 24;
/** Arguments of a failed command that are shown. */
const MAX_SHOWN = 8;

/** An error that the operator can fix; printed as one line without a stack trace. */
export class PrepareError extends Error {}

/** The packages that a start needs: those of the application, and of its build (`peerDependencies`). */
export const TO_START = 'start';
/** These, and the packages of tests, benches and checks (`devDependencies`). */
export const TO_DEVELOP = 'develop';

/** Installs these packages and builds, when needed. */
export async function prepare(packages) {
  await ensureInstalled(packages);
  await ensureBuilt(packages);
}

/** Installs packages that are missing or differ from package-lock.json. */
export async function ensureInstalled(packages) {
  if (isInstalled(packages)) return;
  await withLock(ROOT, async () => {
    if (isInstalled(packages)) return;
    if (!matchesLockFile(packages)) {
      // `npm ci` deletes node_modules, from which a server may be running.
      const command = matchesLockFile(TO_START) ? ['install', '--no-save'] : ['ci'];
      print(`Installing dependencies (npm ${command[0]}) ...`);
      const group = packages === TO_START ? '--omit=dev' : '--include=dev';
      const npm = ['npm', ...command, group, '--no-audit', '--no-fund', '--loglevel=error'];
      await quietly(npm, withoutProjectBin(process.env));
    }
    removeUnusedFiles();
    writeFileSync(INSTALLED, installKey(matchesLockFile(TO_DEVELOP) ? TO_DEVELOP : TO_START));
  });
}

/**
 * Compiles src into dist and bundles the programs when anything in it changed since the last build. In a clone with only the packages of a start, swc
 * compiles: it takes a tenth of the time of the TypeScript compiler and checks no types. Both outputs behave alike, and only that of the TypeScript compiler has what
 * openapi.json is made of. Tests and the container image use it.
 */
async function ensureBuilt(packages) {
  const compiler = packages === TO_START && !isInstalled(TO_DEVELOP) ? SWC : TSC;
  if (isBuiltBy(compiler, readStamp(DIST), sourceFiles())) return;
  await withLock(ROOT, async () => {
    const files = sourceFiles();
    if (isBuiltBy(compiler, readStamp(DIST), files)) return;
    print('Building ...');
    await withStamp(DIST, files, async (stamp) => {
      if (compiler === SWC && (await compileBySwc(DIST, stamp, files)) !== undefined) {
        await bundle();
        return SWC;
      }
      return compileByTsc(stamp, files);
    });
  });
}

/** Compiles src into dist by the TypeScript compiler, and bundles the programs, in any case. */
export async function build() {
  await withLock(ROOT, async () => {
    const files = sourceFiles();
    await withStamp(DIST, files, (stamp) => compileByTsc(stamp, files));
  });
}

/** The output of the TypeScript compiler serves where swc would compile, too. The reverse is not true. */
const isBuiltBy = (compiler, stamp, files) =>
  stamp !== undefined && (stamp.compiler === TSC || compiler === SWC) && sameFiles(stamp.files, files);

/** Compiles src into a directory for development, by swc and without a bundle. @returns what the compiler has printed @throws PrepareError */
export async function buildForDevelopment(out) {
  const files = sourceFiles();
  let printed;
  await withStamp(out, files, async (stamp) => {
    printed = await compileBySwc(out, stamp, files);
    if (printed === undefined) throw new PrepareError('npm has not installed swc for this machine.');
    writePrograms(out);
    return SWC;
  });
  return printed.trimEnd();
}

/**
 * Replaces the stamp of a directory after `compile`, which gets the former one and resolves with the name of its compiler. If it is
 * interrupted, there is no stamp, so that an incomplete output does not count.
 */
async function withStamp(out, files, compile) {
  const stamp = readStamp(out);
  rmSync(path.join(out, STAMP), { force: true });
  const compiler = await compile(stamp);
  removeOrphans(out);
  writeFileSync(path.join(out, STAMP), JSON.stringify({ compiler, files }));
}

/** @returns what the compiler has printed; undefined on a machine without swc @throws PrepareError for a syntax error */
async function compileBySwc(out, stamp, files) {
  const isKnown = isKnownTo(SWC, stamp, files);
  // With it, the TypeScript compiler would keep the output of swc for sources that do not change.
  rmSync(path.join(out, INCREMENTAL), { force: true });
  // A source that replaces a newer one may keep its time: only the stamp tells that it has changed.
  const names = Object.keys(files)
    .filter((name) => isSource(name) && !(isKnown && stamp.files[name] === files[name]))
    .map((name) => path.relative('src', name));
  const script = path.join(ROOT, 'bin', 'lib', 'compile-by-swc.mjs');
  try {
    return await quietly([projectNode(), script, out, ...names], process.env);
  } catch (error) {
    if (error.exitCode === NO_SWC) return undefined;
    throw error;
  }
}

/** Whether the stamp has the state of the output of this compiler, made with the same settings. */
const isKnownTo = (compiler, stamp, files) =>
  stamp?.compiler === compiler && sameFiles(settingsOf(stamp.files), settingsOf(files));

/** @returns the name of the compiler */
async function compileByTsc(stamp, files) {
  // The compiler detects changed sources, but not changed settings, nor the output of swc.
  if (!isKnownTo(TSC, stamp, files)) rmSync(path.join(DIST, INCREMENTAL), { force: true });
  await quietly(
    [projectNode(), path.join(MODULES, '@nestjs', 'cli', 'bin', 'nest.js'), 'build'],
    process.env,
  );
  await bundle();
  return TSC;
}

/** Bundles the programs from the modules in dist. */
async function bundle() {
  await quietly([projectNode(), path.join(ROOT, 'bin', 'lib', 'bundle.mjs'), DIST], process.env);
}

/** False on the Node of the machine if it is too old for the sources of the project. */
export const isRecentNode = () => Number(process.versions.node.split('.')[0]) >= MIN_NODE_MAJOR;

/** The pinned Node, or the current one if it is recent enough (on a platform without a package of Node). */
export function projectNode() {
  const pinned = path.join(BIN, 'node');
  if (existsSync(pinned)) return pinned;
  if (isRecentNode()) return process.execPath;
  throw new PrepareError(
    `Node ${MIN_NODE_MAJOR} is needed and npm did not install it: allow optional dependencies, ` +
      `or start with Node ${MIN_NODE_MAJOR} yourself.`,
  );
}

/**
 * The environment of programs that start often, with a cache of compiled modules. Not for the server: Node keeps the whole
 * cache in memory, 12 MB, for 0.4 s less of processor time at the start.
 */
export function programEnv() {
  return { NODE_COMPILE_CACHE: path.join(MODULES, '.cache', 'workspace-compiled'), ...process.env };
}

/** Runs `main` and turns a PrepareError into one line and exit code 1. */
export async function launch(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    print(error.message);
    process.exitCode = 1;
  }
}

/** Writes a message for the operator. */
export function print(line) {
  process.stderr.write(`${line}\n`);
}

function isInstalled(packages) {
  const installed = readText(INSTALLED);
  return (
    installed === installKey(TO_DEVELOP) || (packages === TO_START && installed === installKey(TO_START))
  );
}

function installKey(packages) {
  const hash = createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex');
  return `${process.platform}-${process.arch} ${packages} ${hash}\n`;
}

/** True also after a manual `npm install` or `npm ci`, which is not repeated. */
function matchesLockFile(packages) {
  const installed = readText(path.join(MODULES, '.package-lock.json'));
  if (installed === undefined) return false;
  const present = JSON.parse(installed).packages ?? {};
  const wanted = JSON.parse(readFileSync(LOCK_FILE, 'utf8')).packages ?? {};
  return Object.entries(wanted).every(([name, entry]) => {
    // A link has no version; the package that it links has an entry of its own.
    if (name === '' || entry.link === true || !isForThisMachine(entry)) return true;
    if (packages === TO_START && entry.dev === true) return true;
    const found = present[name];
    // npm omits packages for another C library, and dependencies of packages for other machines.
    if (!found) return entry.optional === true && (entry.libc !== undefined || (!entry.os && !entry.cpu));
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

function isForThisMachine({ os, cpu }) {
  return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch));
}

/**
 * Removes what nothing here reads: the headers of Node for native extensions (67 MB) and source maps of packages (52 MB).
 * npm installs the content of a package whole.
 */
function removeUnusedFiles() {
  for (const name of readdirSync(MODULES)) {
    if (/^node-(?:bin-)?(?:linux|darwin)-/.test(name)) {
      rmSync(path.join(MODULES, name, 'include'), { recursive: true, force: true });
    }
  }
  for (const name of readdirSync(MODULES, { recursive: true })) {
    if (name.endsWith('.map')) rmSync(path.join(MODULES, name), { force: true, recursive: true });
  }
}

/** `npm ci` deletes the Node in node_modules, so npm runs on the Node of the machine. */
function withoutProjectBin(env) {
  const directories = (env.PATH ?? '').split(path.delimiter);
  return {
    ...env,
    PATH: directories.filter((directory) => path.resolve(directory) !== BIN).join(path.delimiter),
  };
}

function readStamp(out) {
  try {
    return JSON.parse(readText(path.join(out, STAMP)) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** True if a build had exactly these files, with the same times and sizes. */
export function sameFiles(stamp, files) {
  const names = Object.keys(files);
  return (
    stamp !== undefined &&
    Object.keys(stamp).length === names.length &&
    names.every((name) => stamp[name] === files[name])
  );
}

/** All files that the build depends on, with time and size. */
function sourceFiles() {
  const files = {};
  for (const entry of readdirSync(path.join(ROOT, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) record(files, path.join(entry.parentPath ?? entry.path, entry.name));
  }
  for (const name of readdirSync(ROOT)) {
    if (/^(?:tsconfig.*|nest-cli|package-lock)\.json$/.test(name)) record(files, path.join(ROOT, name));
  }
  for (const name of [
    'bundle.mjs',
    'bundle-maps.mjs',
    'programs.mjs',
    'swagger-plugin.mjs',
    'swc-compiler.mjs',
  ])
    record(files, path.join(ROOT, 'bin', 'lib', name));
  return files;
}

/** The files among these that are not sources. */
function settingsOf(files) {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !isSource(name)));
}

const isSource = (name) => name.startsWith(`src${path.sep}`);

/** Removes the output of deleted sources. The rest stays, since a process may be using it. */
function removeOrphans(out) {
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || (path.dirname(file) === out && entry.name.startsWith('.'))) continue;
    const name = path.relative(out, file);
    if (name in PROGRAMS || name.startsWith(`${BUNDLE}${path.sep}`)) continue;
    const asset = path.join(ROOT, 'src', name);
    if (!existsSync(asset) && !existsSync(asset.replace(/(?:\.js|\.js\.map|\.d\.ts)$/, '.ts'))) rmSync(file);
  }
}

/** Adds the time and size of a file. */
export function record(files, file) {
  const { mtimeMs, size } = statSync(file);
  files[path.relative(ROOT, file)] = `${mtimeMs} ${size}`;
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Runs a command silently and prints its output if it fails. Returns the output. The command ends with this process, because it would otherwise
 * still run when the next start runs the same command.
 */
export function quietly([file, ...args], env) {
  return new Promise((resolve, reject) => {
    const stop = (signal) => child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, stop);
    const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => reject(new PrepareError(`Cannot run ${file}: ${error.message}`)));
    child.once('close', (code) => {
      for (const signal of FORWARDED) process.off(signal, stop);
      if (code === 0) resolve(output);
      else reject(failureOf([file, ...args], code, output));
    });
  });
}

/** The error of a command. A build may have a thousand arguments. */
function failureOf([file, ...args], exitCode, output) {
  const command = [path.basename(file), ...args.slice(0, MAX_SHOWN)].join(' ');
  return Object.assign(new PrepareError(`${output.trimEnd()}\n${command} failed.`), { exitCode });
}
