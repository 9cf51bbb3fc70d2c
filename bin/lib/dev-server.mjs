// The server of `npm run dev`.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { OUT, print } from './dev-compiler.mjs';
import { NODE_FLAGS } from './node-flags.mjs';
import { programEnv, projectNode, ROOT } from './prepare.mjs';

const STOP_MS = 2_000;
const EX_CONFIG = 78;

/** The server as a child process, and the embedded database, which lives as long as this process. */
export class DevServer {
  #database;
  #child;
  #restarting = Promise.resolve();
  #started = false;

  static async open() {
    const server = new DevServer();
    const load = (file) => import(path.join(OUT, file));
    const { Config, ConfigError } = await load('config/config.js');
    try {
      const config = Config.load();
      if (!config.embeddedDatabase) return server;
      const { EmbeddedDatabase } = await load('platform/database/embedded/embedded-database.js');
      const log = { info: () => undefined, warn: print, error: print };
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
    await this.#restarting;
    await this.#stop();
    await this.#database?.close();
  }

  async #restart(names) {
    const began = Date.now();
    await this.#stop();
    await this.#start();
    const state = this.#child ? `serving after ${Date.now() - began} ms` : 'waiting for the next change';
    print(names.length > 0 ? `${names.join(', ')}: ${state}` : state);
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
    const child = spawn(projectNode(), [...NODE_FLAGS, path.join(OUT, 'main.js')], {
      cwd: ROOT,
      env: { ...programEnv(), ...database, ...demo },
      stdio: ['inherit', 'pipe', 'inherit', 'ipc'],
    });
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
