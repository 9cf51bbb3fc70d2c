// The server of `npm run dev`.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { importCurrent } from './import-current.mjs';
import { NODE_FLAGS } from './node-flags.mjs';
import { programEnv, projectNode, ROOT } from './prepare.mjs';

/** The output of the compiler: a server that `npm start` runs from `dist` is not disturbed. */
export const OUT = path.join(ROOT, 'dist-dev');

export const print = (line) => process.stderr.write(`[dev] ${line}\n`);

const CHILD = path.join(import.meta.dirname, 'dev-child.mjs');
const MAIN = path.join(OUT, 'main.js');
const STOP_MS = 2_000;
/** Files that the mail service does not use. */
const WITHOUT_MAIL_SERVICE = /^modules\b/;
const EX_CONFIG = 78;

/**
 * The server as a child process; the embedded database, which lives as long as this process; and the embedded mail service. After each
 * start, a spare process loads the packages for the next one.
 */
export class DevServer {
  #config;
  #database;
  #mail;
  #child;
  #spare;
  #restarting = Promise.resolve();
  #started = false;
  #closing = false;

  static async open() {
    const server = new DevServer();
    const load = (file) => import(path.join(OUT, file));
    const { Config, ConfigError } = await load('config/config.js');
    try {
      const config = Config.load();
      server.#config = config;
      if (!config.embeddedDatabase) return server;
      const { EmbeddedDatabase } = await load('platform/database/embedded/embedded-database.js');
      const log = { info: print, warn: print, error: print };
      server.#database = await EmbeddedDatabase.open({ dataDir: config.DATA_DIR, role: 'server', log });
      return server;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const line of error.lines) print(line);
      process.exit(EX_CONFIG);
    }
  }

  /** Restarts the server, after a restart that is running. */
  restart(names) {
    this.#restarting = this.#restarting.then(() => this.#restart(names));
    return this.#restarting;
  }

  async close() {
    this.#closing = true;
    await this.#restarting;
    await this.#stop();
    this.#spare?.kill();
    await this.#mail?.process.stop(STOP_MS);
    await this.#database?.close();
  }

  async #restart(names) {
    if (this.#closing) return;
    const began = Date.now();
    await Promise.all([this.#stop(), this.#startMail(names)]);
    await this.#start();
    const state = this.#child ? `serving after ${Date.now() - began} ms` : 'waiting for the next change';
    print(names.length > 0 ? `${names.join(', ')}: ${state}` : state);
    this.#spare = this.#spawn();
  }

  /** Starts the mail service, or replaces it after a change that may concern it. */
  async #startMail(names) {
    if (this.#config.mailService) return;
    if (this.#mail && names.every((name) => WITHOUT_MAIL_SERVICE.test(name))) return;
    await this.#mail?.process.stop(STOP_MS);
    this.#mail = undefined;
    try {
      const file = path.join(OUT, 'runtime', 'mail-service-process.js');
      const { MailServiceProcess } = await importCurrent(file);
      const log = { info: () => undefined, error: ({ reason }, message) => print(`${message}: ${reason}`) };
      const process = new MailServiceProcess(this.#database?.url ?? this.#config.DATABASE_URL, log);
      const { url, token } = await process.start();
      this.#mail = {
        process,
        env: { MAIL_SERVICE_URL: url, MAIL_SERVICE_TOKEN: token, MAIL_SERVICE_EMBEDDED: 'true' },
      };
    } catch (error) {
      print(error.message);
    }
  }

  #spawn() {
    return spawn(projectNode(), [...NODE_FLAGS, CHILD], {
      cwd: ROOT,
      env: programEnv(),
      stdio: ['inherit', 'pipe', 'inherit', 'ipc'],
    });
  }

  /** Resolves when the server prints its banner or ends. */
  #start() {
    const { promise, resolve } = Promise.withResolvers();
    // The demo workspace exists after the first start; looking for it again would only take time.
    const demo = this.#started
      ? { DEMO: 'false' }
      : this.#database
        ? { DEMO: process.env.DEMO || 'true' }
        : {};
    const database = this.#database ? { DATABASE_URL: this.#database.url } : {};
    // Ctrl-C ends the spare process too.
    const child = this.#spare?.connected ? this.#spare : this.#spawn();
    this.#spare = undefined;
    // The process has loaded the packages, so it serves itself.
    const processes = { WEB_CONCURRENCY: '0' };
    child.send({ main: MAIN, env: { ...processes, ...database, ...this.#mail?.env, ...demo } });
    this.#child = child;
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      if (!String(chunk).includes('Workspace API')) return;
      this.#started = true;
      resolve();
    });
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
      resolve();
    });
    return promise;
  }

  async #stop() {
    const child = this.#child;
    if (!child) return;
    const { promise, resolve } = Promise.withResolvers();
    child.once('exit', resolve);
    child.kill('SIGTERM');
    // A request in flight, such as a long poll, must not hold up the restart.
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await promise;
    clearTimeout(timer);
  }
}
