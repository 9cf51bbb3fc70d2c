import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

/** A proxy between the application and its database, which can cut the connections. */
export class DatabaseProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private port = 0;
  private silent = false;
  private held: { text: string; seen: () => void } | undefined;

  private constructor(private readonly target: URL) {}

  static async start(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(new URL(databaseUrl));
    await proxy.mend();
    return proxy;
  }

  /** The address of the database through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.searchParams.delete('host');
    url.host = `127.0.0.1:${this.port}`;
    return url.toString();
  }

  /** Closes all connections and accepts no new ones. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) =>
      this.server ? this.server.close(() => resolve()) : resolve(),
    );
    for (const socket of this.sockets) socket.destroy();
    await closed;
    this.server = undefined;
  }

  /** Forwards nothing from now on and closes nothing, like a machine that has lost its network. */
  silence(): void {
    this.silent = true;
    for (const socket of this.sockets) socket.unpipe().resume();
  }

  /**
   * Silences the connection that sends `text` next, before it is forwarded.
   * @returns resolves then
   */
  hold(text: string): Promise<void> {
    return new Promise((seen) => (this.held = { text, seen }));
  }

  private gate(): Transform {
    return new Transform({
      transform: (data: Buffer, _encoding, forward) => {
        if (!this.held || !data.includes(this.held.text)) return forward(null, data);
        this.held.seen();
        this.held = undefined;
      },
    });
  }

  /** A server without a TCP port listens on a Unix socket in the directory `host`. */
  private connectToTarget(): Socket {
    const { hostname, port, searchParams } = this.target;
    const directory = searchParams.get('host');
    return directory?.startsWith('/')
      ? connect(`${directory}/.s.PGSQL.${port}`)
      : connect(Number(port), directory ?? hostname);
  }

  /** New connections reach the database again. Silenced ones stay silent. */
  async mend(): Promise<void> {
    this.silent = false;
    if (this.server) return;
    const server = createServer((from) => {
      if (this.silent) {
        this.sockets.add(from.resume());
        return;
      }
      const to = this.connectToTarget();
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => this.sockets.delete(one));
      }
      from.pipe(this.gate()).pipe(to).pipe(from);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }
}
