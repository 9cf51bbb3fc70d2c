import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, ROOT, ServerProcess } from '../sync/servers.ts';
import type { ChatUser } from './fuzzer.ts';

/** Server processes on a PostgreSQL of their own, and the members of one workspace. */
export class Site {
  readonly servers: ServerProcess[] = [];
  users: ChatUser[] = [];
  private readonly dataDir = mkdtempSync(path.join(os.tmpdir(), 'workspace-site-'));
  private database: any;
  private readonly root: string;

  /**
   * @param root directory of the program that creates the database and its users
   * @param database of its own, empty; default: an embedded one
   */
  constructor(root = ROOT, database?: { url: string }) {
    this.root = root;
    this.database = database;
  }

  get databaseUrl(): string {
    return this.database.url;
  }

  /** @param names of the members; the first one is the owner @param settings environment variables of the processes */
  async start(names: string[], processes: number, settings: Record<string, string> = {}): Promise<this> {
    process.once('exit', () => this.servers.forEach((server) => server.kill()));
    const { EmbeddedDatabase } = await this.dist('platform/database/embedded/embedded-database.js');
    const log = { info: () => undefined, warn: console.warn, error: console.error };
    this.database ??= await EmbeddedDatabase.open({ dataDir: this.dataDir, role: 'server', log });
    this.users = await this.createUsers(names);
    for (let n = 0; n < processes; n += 1) {
      const server = new ServerProcess(this.database.url, await freePort(), settings);
      this.servers.push(server);
      await server.start();
    }
    return this;
  }

  /** Kills the server of PostgreSQL; the embedded database starts it again. */
  killPostgres(): void {
    const [file = ''] = globSync(path.join(this.dataDir, '**', 'postmaster.pid'));
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop('SIGTERM');
    await this.database?.close?.();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async createUsers(names: string[]): Promise<ChatUser[]> {
    const [{ migrateDatabase }, { createApp }, { Config }, { provision }] = await Promise.all([
      this.dist('app.prepare.js'),
      this.dist('app.setup.js'),
      this.dist('config/config.js'),
      this.dist('provision/provision.js'),
    ]);
    const { url } = this.database;
    const config = Config.parse({ DATABASE_URL: url, DEMO: 'false', LOG_LEVEL: 'warn' });
    await migrateDatabase(config, url);
    const { nest } = await createApp(config, url);
    const people = names.map((name, n) => ({
      email: `${name.toLowerCase()}@acme.example`,
      name,
      role: n === 0 ? 'owner' : 'member',
    }));
    const { users } = await provision(nest, { tenants: [{ slug: 'acme', users: people }] }, true);
    await nest.close();
    return users.map(({ id, token }: ChatUser) => ({ id, token }));
  }

  private dist(file: string): Promise<any> {
    return import(path.join(this.root, 'dist', file));
  }
}
