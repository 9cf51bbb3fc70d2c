import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

/** The beginning of BackendKeyData, before the process id; ReadyForQuery outside a transaction (PostgreSQL, "Message Formats"). */
const BACKEND_KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** A proxy between the application and its database, which can cut the connections. */
export class DatabaseProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private port = 0;
  private silent = false;
  private held: { text: string; seen: () => void } | undefined;
  private onStart: ((pid: number) => unknown) | undefined;

  private constructor(private target: URL) {}

  static async start(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(new URL(databaseUrl));
    await proxy.restore();
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

  /** Leads new connections to another server and leaves the open ones, like a proxy after a fail-over. */
  switchTo(databaseUrl: string): void {
    this.target = new URL(databaseUrl);
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

  /**
   * Holds back the end of the start of the next connection, until its server sends more: the client receives both at once.
   * @param work called meanwhile, with the process id of the server; makes it send more
   */
  joinToStart(work: (pid: number) => unknown): void {
    this.onStart = work;
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

  /** Of the responses. */
  private startGate(): Transform {
    let started: Buffer | undefined;
    return new Transform({
      transform: (data: Buffer, _encoding, forward) => {
        if (started) data = Buffer.concat([started, data]);
        started = undefined;
        if (!this.onStart || !data.subarray(-READY_FOR_QUERY.length).equals(READY_FOR_QUERY))
          return forward(null, data);
        started = data;
        this.onStart(data.readInt32BE(data.indexOf(BACKEND_KEY_DATA) + BACKEND_KEY_DATA.length));
        this.onStart = undefined;
        forward();
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
  async restore(): Promise<void> {
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
      from.pipe(this.gate()).pipe(to).pipe(this.startGate()).pipe(from);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }
}
