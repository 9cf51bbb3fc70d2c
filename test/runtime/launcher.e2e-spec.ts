import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  cleanUp,
  isAlive,
  postmasterPid,
  ROOT,
  type Running,
  startNode,
  temporaryDataDir,
} from './support/processes.ts';
import { launch, OWN_MAIL, started } from './support/server.ts';
import { until } from '../support/until.ts';

/** What a start reads of a clone, besides `src`. */
const CLONED = [
  'asyncapi.json',
  'bin',
  'nest-cli.json',
  'openapi.json',
  'package-lock.json',
  'package.json',
  'public',
  'tsconfig.build.json',
  'tsconfig.json',
];
/** The sources of programs, and those that a server loads at its start. */
const BUNDLED = [
  'app.prepare.ts',
  'app.setup.ts',
  'cli/workspace.ts',
  'mail-service/service-process.ts',
  'server.ts',
];
/** In node_modules: for which commands packages are installed. */
const INSTALLED = '.workspace-lock-hash';

afterEach(cleanUp);

describe('the lock of installation and build', () => {
  const locker = (TMPDIR: string): Running =>
    startNode('test/runtime/support/locker.mjs', ['/clone'], { TMPDIR });
  const locked = (holder: Running) => until('the lock', () => holder.stdout() === 'locked\n');

  it('is released by a killed process and acquired by the next one', async () => {
    const directory = temporaryDataDir();
    mkdirSync(directory);
    const first = locker(directory);
    await locked(first);
    const second = locker(directory);
    await until('the second process to wait', () =>
      second.stderr().startsWith('Waiting for another process'),
    );
    expect(second.stdout()).toBe('');
    first.child.kill('SIGKILL');
    await locked(second);
    second.child.stdin?.write('release\n');
    expect(await second.exit).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is free when the id of the holder belongs to another process, as after the restart of a container', async () => {
    const directory = temporaryDataDir();
    mkdirSync(directory);
    const killed = locker(directory);
    await locked(killed);
    const [name] = readdirSync(directory);
    killed.child.kill('SIGKILL');
    await killed.exit;
    const file = path.join(directory, name!);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)));
    await locked(locker(directory));
  });
});

/** A clone without sources, where only the packages of a start are installed. @param missing a package that is not */
function cloneInstalled({ missing = '' } = {}): string {
  const clone = temporaryDataDir();
  const modules = path.join(clone, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const name of CLONED) cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true });
  for (const name of readdirSync(path.join(ROOT, 'node_modules')))
    if (name !== INSTALLED && name !== missing)
      symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  const installed = readFileSync(path.join(ROOT, 'node_modules', INSTALLED), 'utf8');
  writeFileSync(path.join(modules, INSTALLED), installed.replace(' develop ', ' start '));
  return clone;
}

describe('the build of a start', () => {
  const write = (clone: string, text: string, time: number): void => {
    const src = path.join(clone, 'src');
    for (const name of BUNDLED) {
      mkdirSync(path.dirname(path.join(src, name)), { recursive: true });
      writeFileSync(path.join(src, name), 'console.log("a program");');
    }
    const file = path.join(src, 'one.ts');
    writeFileSync(file, text);
    utimesSync(file, time, time);
  };
  const build = (clone: string): string => {
    const module = pathToFileURL(path.join(clone, 'bin', 'lib', 'prepare.mjs'));
    const script = `const { prepare, TO_START } = await import('${module.href}'); await prepare(TO_START);`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' });
    return readFileSync(path.join(clone, 'dist', 'one.js'), 'utf8');
  };

  it('compiles again what differs from the last build, whatever its time', () => {
    const clone = cloneInstalled();
    write(clone, 'export const one: number = 1;', 2_000);
    expect(build(clone)).toContain('one = 1;');
    // As `rsync -a` and `tar x` do, which keep times.
    write(clone, 'export const one: number = 22;', 1_000);
    expect(build(clone)).toContain('one = 22;');
    const output = path.join(clone, 'dist', 'one.js');
    for (const change of [
      () => rmSync(path.join(clone, 'dist', '.workspace-build.json')),
      () => appendFileSync(path.join(clone, 'tsconfig.json'), '\n'),
      () => appendFileSync(path.join(clone, 'bin', 'lib', 'swc-compiler.mjs'), '\n'),
      () => appendFileSync(path.join(clone, 'bin', 'lib', 'bundle.mjs'), '\n'),
    ]) {
      writeFileSync(output, 'truncated');
      change();
      expect(build(clone)).toContain('one = 22;');
    }
  });

  const programOf = (clone: string): string =>
    execFileSync(process.execPath, [path.join(clone, 'dist', 'main.js')], { encoding: 'utf8' });
  const bundlesOf = (clone: string): string[] =>
    readdirSync(path.join(clone, 'dist', 'bundle')).filter(
      (name) => name.startsWith('server-') && name.endsWith('.js'),
    );

  it('keeps the bundle before, from which a server may still load chunks, and no older one', () => {
    const clone = cloneInstalled();
    write(clone, 'export const one = 1;', 2_000);
    for (const [version, bundles] of [
      [1, 1],
      [2, 2],
      [3, 2],
    ] as const) {
      writeFileSync(path.join(clone, 'src', 'server.ts'), `console.log("version ${version}");`);
      build(clone);
      expect(programOf(clone)).toBe(`version ${version}\n`);
      expect(bundlesOf(clone)).toHaveLength(bundles);
    }
  });

  it('runs the modules on a machine for which the bundler has no binary', () => {
    const clone = cloneInstalled({ missing: 'rolldown' });
    write(clone, 'export const one = 1;', 2_000);
    build(clone);
    expect(programOf(clone)).toBe('a program\n');
    expect(readdirSync(path.join(clone, 'dist'))).not.toContain('bundle');
  });

  it('is that of the TypeScript compiler on a machine for which swc has no binary', () => {
    const clone = cloneInstalled({ missing: '@swc' });
    write(clone, 'export const one: number = 1;', 1_000);
    expect(build(clone)).toContain('one = 1;');
    expect(JSON.parse(readFileSync(path.join(clone, 'dist', '.workspace-build.json'), 'utf8')).compiler).toBe(
      'tsc',
    );
  });
});

describe('npm start in a fresh clone', () => {
  it('ends the installation when it is ended', async () => {
    const clone = temporaryDataDir();
    const programs = path.join(clone, 'programs');
    cpSync(path.join(ROOT, 'bin'), path.join(clone, 'bin'), { recursive: true });
    writeFileSync(path.join(clone, 'package-lock.json'), '{}');
    mkdirSync(programs);
    const pidFile = path.join(clone, 'pid');
    const npm = `#!/bin/sh\necho $$ > '${pidFile}'\nexec sleep 600\n`;
    writeFileSync(path.join(programs, 'npm'), npm, { mode: 0o755 });
    const start = startNode(path.relative(ROOT, path.join(clone, 'bin', 'start.mjs')), [], {
      PATH: `${programs}:${process.env['PATH']}`,
      TMPDIR: clone,
    });
    const pid = await until(
      'the installation',
      () => existsSync(pidFile) && (Number(readFileSync(pidFile, 'utf8')) || undefined),
    );
    start.child.kill('SIGTERM');
    await start.exit;
    const survives = isAlive(pid);
    if (survives) process.kill(pid, 'SIGKILL');
    expect(survives).toBe(false);
  });

  it('serves what swc compiles, where only the packages of a start are installed', async () => {
    const clone = cloneInstalled();
    cpSync(path.join(ROOT, 'src'), path.join(clone, 'src'), { recursive: true });
    const script = path.relative(ROOT, path.join(clone, 'bin', 'start.mjs'));
    const server = await started(await launch({ ...OWN_MAIL, DEMO: 'true' }, script));
    expect(server.stderr()).toBe('Building ...\n');
    const token = /^eyJ\S+$/m;
    await until('the token', () => token.test(server.stdout()));
    const headers = {
      authorization: `Bearer ${token.exec(server.stdout())?.[0]}`,
      'content-type': 'application/json',
    };
    const notes = `http://127.0.0.1:${server.port}/apis/v1/notes`;
    const write = (body: object) =>
      fetch(notes, { method: 'POST', headers, body: JSON.stringify(body) }).then(({ status }) => status);
    // Types of fields, which the checks of the input use, come from the compiler.
    expect([await write({ title: 'A note' }), await write({ title: 7 })]).toEqual([201, 422]);
    expect(readdirSync(path.join(clone, 'dist'))).not.toContain('.incremental.tsbuildinfo');
    server.child.kill('SIGINT');
    expect(await server.exit).toBe(0);
  });
});

describe('npm run dev', () => {
  // A start of the whole server would take seconds; the port in use ends it early.
  it('runs the embedded database while the server ends, and stops it on SIGINT', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const PORT = String((other.address() as AddressInfo).port);
    const { child, dataDir, exit, stderr } = await launch({ ...OWN_MAIL, PORT }, 'bin/dev.mjs');
    await until('the server to end', () => stderr().endsWith('[dev] waiting for the next change\n'));
    expect(stderr()).toContain(`Port ${PORT} on 127.0.0.1 is in use`);
    expect(isAlive(postmasterPid(dataDir)!)).toBe(true);
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(postmasterPid(dataDir)).toBe(undefined);
    other.close();
  });

  it('starts the mail service from the changed file of its process', async () => {
    const { importCurrent } = await import(path.join(ROOT, 'bin', 'lib', 'import-current.mjs'));
    const file = path.join(temporaryDataDir(), 'module.mjs');
    mkdirSync(path.dirname(file));
    const contents = [];
    for (const version of [1, 2]) {
      writeFileSync(file, `export const version = ${version};`);
      contents.push((await importCurrent(file)).version);
    }
    expect(contents).toEqual([1, 2]);
  });
});
