// The processes of a run: the server, the floor, the load generator; and their figures in the operating system.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { MALLOC_SETTINGS, NODE_FLAGS } from '../../../bin/lib/node-flags.mjs';

const START_MS = 60_000;
const TICKS_PER_SECOND = 100;

const local = (file) => fileURLToPath(new URL(file, import.meta.url));

export async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function procFile(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Seconds of processor time of a process so far; NaN where the system does not report it. */
export function cpuOf(pid) {
  const fields = procFile(pid, 'stat')?.split(') ')[1]?.split(' ');
  return fields ? (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND : Number.NaN;
}

/** By database: the seconds of each connection when it was last seen. Some end between two measurements. */
const connections = new Map();

/** Seconds of processor time of the connections of a database so far. */
export async function databaseCpu(databaseUrl) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  await client.end();
  const seen = connections.get(databaseUrl) ?? new Map();
  connections.set(databaseUrl, seen);
  for (const { pid } of rows) seen.set(pid, cpuOf(pid) || (seen.get(pid) ?? 0));
  return seen.values().reduce((sum, seconds) => sum + seconds, 0);
}

/** Runs one statement on a connection of its own. @returns its rows */
export async function execute(databaseUrl, text) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

/** A process that listens on a port. */
export class Listener {
  constructor(name, child, port) {
    this.name = name;
    this.child = child;
    this.port = port;
  }

  async ready() {
    for (const end = Date.now() + START_MS; Date.now() < end; await delay(50)) {
      if (this.child.exitCode !== null) throw new Error(`${this.name} ended with ${this.child.exitCode}`);
      const socket = net.connect({ port: this.port, host: '127.0.0.1' });
      // A free port may be the port of the connection itself, which then connects to itself.
      const open = await once(socket, 'connect').then(
        () => socket.localPort !== this.port,
        () => false,
      );
      socket.destroy();
      if (open) return this;
    }
    throw new Error(`${this.name} does not listen`);
  }

  /** Seconds of processor time so far; NaN where the system does not report it. */
  get cpu() {
    return cpuOf(this.child.pid);
  }

  /** The most memory it had at any time since the last `forgetPeak`, MB; NaN where the system does not report it. */
  get peakMemory() {
    return Number(/VmHWM:\s*(\d+)/.exec(this.#proc('status') ?? '')?.[1]) / 1024;
  }

  forgetPeak() {
    try {
      writeFileSync(`/proc/${this.child.pid}/clear_refs`, '5');
    } catch {
      // The system does not support it or denies it: the peak is then that of the whole run.
    }
  }

  /** Stops the process, so that it does no background work while the other one is measured. */
  pause() {
    this.child.kill('SIGSTOP');
  }

  resume() {
    this.child.kill('SIGCONT');
  }

  async stop() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.resume();
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }

  #proc(file) {
    return procFile(this.child.pid, file);
  }
}

/** Without mailboxes for the seeded members: their creation by the embedded mail service would continue during the measurement. */
export const WITHOUT_MAILBOXES = { MAIL_SERVICE_URL: 'http://127.0.0.1:9', MAIL_ACCOUNTS: 'link' };

/** The built server as `npm start` runs it, on an existing database. */
export async function startServer(databaseUrl, poolSize, nodeOptions = [], settings = {}) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: String(poolSize),
    DEMO: 'false',
    API_REQUESTS_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    // Processor time and memory are those of the process that serves.
    WEB_CONCURRENCY: '0',
    ...MALLOC_SETTINGS,
    ...settings,
  };
  const main = local('../../../dist/main.js');
  const child = spawn(process.execPath, [...NODE_FLAGS, ...nodeOptions, main], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const server = await new Listener('the server', child, port).ready();
  server.metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return server;
}

export async function startFloor(databaseUrl, poolSize) {
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_MAX: String(poolSize),
  };
  const child = spawn(process.execPath, [local('../notes/floor.mjs')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Listener('the floor', child, port).ready();
}

/** A script that listens on PORT. @param file its URL */
export async function startScript(name, file, settings = {}) {
  const port = await freePort();
  const env = { PATH: process.env.PATH, PORT: String(port), ...settings };
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Listener(name, child, port).ready();
}

/** The load generator. */
export class Load {
  #child;
  #ordered = Promise.resolve();

  constructor(callersFile) {
    this.#child = fork(local('load.mjs'), [callersFile]);
  }

  /** @param listener called with `measuring` and `measured`, when the measured time begins and ends */
  run(order, listener = () => undefined) {
    this.#ordered = this.#ordered.then(
      () =>
        new Promise((resolve, reject) => {
          const onExit = () => reject(new Error('the load generator ended'));
          const onMessage = (message) => {
            if (message.type === 'measuring' || message.type === 'measured') return listener(message.type);
            this.#child.off('message', onMessage).off('exit', onExit);
            if (message.type === 'done') resolve(message.result);
            else reject(new Error(message.message));
          };
          this.#child.on('message', onMessage).once('exit', onExit);
          this.#child.send(order);
        }),
    );
    return this.#ordered;
  }

  stop() {
    this.#child.removeAllListeners('exit').kill();
  }
}
