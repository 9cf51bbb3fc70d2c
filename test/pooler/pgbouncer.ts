import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { memoryDirectory } from '../support/memory-directory.ts';
import { freePort } from '../support/network/ports.ts';
import { DatabaseProxy } from '../support/network/proxy.ts';
import { until } from '../support/until.ts';

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

/** PgBouncer in front of a database, with its default settings apart from the mode and the number of connections. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly proxy: DatabaseProxy,
    private readonly directory: string,
    readonly url: string,
  ) {}

  static async start(databaseUrl: string, mode: 'session' | 'transaction'): Promise<PgBouncer> {
    // PgBouncer runs as another user, who may not open the directory of the server's socket.
    const proxy = await DatabaseProxy.start(databaseUrl);
    const server = new URL(proxy.url);
    const user = server.username || 'postgres';
    const port = await freePort();
    const directory = memoryDirectory('workspace-pgbouncer-');
    const file = (name: string, lines: string[]): string => {
      const place = path.join(directory, name);
      writeFileSync(place, `${lines.join('\n')}\n`);
      return place;
    };
    const users = file('users.txt', [`"${user}" ""`]);
    const settings = file('pgbouncer.ini', [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      'default_pool_size = 60',
    ]);
    chmodSync(directory, 0o755);
    const isRoot = process.getuid?.() === 0;
    const child = spawn('/usr/sbin/pgbouncer', ['-q', settings], {
      stdio: ['ignore', 'ignore', 'inherit'],
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    });
    const ended = new Promise<never>((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error('PgBouncer did not start: run .ci/ensure-pgbouncer')));
    });
    ended.catch(() => undefined);
    const url = new URL(proxy.url);
    url.username = user;
    url.host = `127.0.0.1:${port}`;
    const accepts = until('PgBouncer', () =>
      fetch(`http://127.0.0.1:${port}`).then(
        () => true,
        // It closes a connection that does not speak its protocol.
        (error: { cause?: { code?: string } }) => error.cause?.code !== 'ECONNREFUSED',
      ),
    );
    await Promise.race([accepts, ended]);
    return new PgBouncer(child, proxy, directory, url.toString());
  }

  async stop(): Promise<void> {
    const exit = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await exit;
    await this.proxy.cut();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
