import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnv } from '../support/installation/child-env.ts';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** On a busy machine a start may take long. */
const START_SECONDS = 180;

/** A server process on a port of its own, which can be killed and started again there. */
export class ServerProcess {
  private child: ChildProcess | undefined;
  /** The end of its output. */
  output = '';
  readonly base: string;
  private readonly databaseUrl: string;
  readonly port: number;
  /** Directory of the program, which another start may change. */
  root = ROOT;

  private readonly settings: Record<string, string>;
  private readonly flags: readonly string[];

  /**
   * @param settings further environment variables
   * @param flags of Node
   */
  constructor(
    databaseUrl: string,
    port: number,
    settings: Record<string, string> = {},
    flags: readonly string[] = [],
  ) {
    this.settings = settings;
    this.flags = flags;
    this.databaseUrl = databaseUrl;
    this.port = port;
    this.base = `http://127.0.0.1:${port}`;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [...this.flags, path.join(this.root, 'dist', 'main.js')], {
      cwd: this.root,
      env: {
        ...childEnv(),
        DATABASE_URL: this.databaseUrl,
        PORT: `${this.port}`,
        DEMO: 'false',
        API_REQUESTS_PER_MINUTE: '0',
        LOG_LEVEL: 'warn',
        // The process that serves is the one that is killed.
        WEB_CONCURRENCY: '0',
        ...this.settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-8_000);
      });
    for (const deadline = Date.now() + START_SECONDS * 1000; ;) {
      if (child.exitCode !== null) throw new Error(`a server did not start:\n${this.output}`);
      const up = await fetch(`${this.base}/apis/v1/notes`, { signal: AbortSignal.timeout(2_000) })
        .then(async (response) => (await response.text()) !== '' && response.status === 401)
        .catch(() => false);
      if (up) return;
      if (Date.now() > deadline) throw new Error(`a server did not respond:\n${this.output}`);
      await delay(50);
    }
  }

  /** Kills it without warning and starts it again. */
  async crash(): Promise<void> {
    await this.stop('SIGKILL');
    await this.start();
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** Kills it without waiting, at the end of this process. */
  kill(): void {
    this.child?.kill('SIGKILL');
  }
}

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
