import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../support/app.ts';
import { type ApiResponse, Client } from '../support/network/client.ts';
import { freePort } from '../support/network/ports.ts';
import { until } from '../support/until.ts';
import { ServerProcess } from '../sync/servers.ts';

/** Writes that each phase of the restart waits for: the traffic goes on while a process is stopped and after its start. */
const WRITES = 40;
const WRITERS = 2;

/** A client program with the addresses of all processes: it repeats a request that no process has responded to. */
class Device {
  /** Responses other than success, and 503 without Retry-After. */
  readonly unexpected: string[] = [];
  /** Numbers of connections without a response, by error code. ECONNREFUSED: the process is stopped. */
  readonly broken: Record<string, number> = {};
  private next: number;

  constructor(
    private readonly addresses: readonly string[],
    private readonly token: string,
    first: number,
  ) {
    this.next = first;
  }

  /** The same key in each attempt: a write that was made without a response is not made again. */
  async send(method: string, path: string, body?: unknown): Promise<ApiResponse> {
    const headers: Record<string, string> = method === 'GET' ? {} : { 'idempotency-key': randomUUID() };
    return until('a response', async () => {
      const base = this.addresses[this.next % this.addresses.length] as string;
      try {
        const response = await new Client(base, this.token).request(method, path, { body, headers });
        if (response.status < 300) return response;
        if (response.status !== 503 || !response.headers.get('retry-after'))
          this.unexpected.push(`${method} ${path}: ${response.status} ${response.text}`);
      } catch (error) {
        const { code = String(error) } = (error as { cause?: { code?: string } }).cause ?? {};
        this.broken[code] = (this.broken[code] ?? 0) + 1;
      }
      this.next += 1;
      return undefined;
    });
  }
}

/** Writers and readers that work until the test stops them. */
class Traffic {
  /** The newest acknowledged revision and title of each note. */
  readonly acknowledged = new Map<string, { revision: number; title: string }>();
  /** The newest revision and title of each note that a reader of the feed has received. */
  readonly read = new Map<string, { revision: number; title: string }>();
  readonly devices: Device[];
  writes = 0;
  private stopping = false;
  private written = false;
  private readonly writing: Promise<unknown>;
  private readonly reading: Promise<void>;

  constructor(addresses: readonly string[], token: string, cursor: string) {
    this.devices = Array.from({ length: WRITERS + 1 }, (_, n) => new Device(addresses, token, n));
    const [reader, ...writers] = this.devices as [Device, ...Device[]];
    this.writing = Promise.all(writers.map((writer) => this.write(writer)));
    this.reading = this.poll(reader, cursor);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.writing;
    this.written = true;
    await this.reading;
  }

  private async write(device: Device): Promise<void> {
    while (!this.stopping) {
      let { note } = (await device.send('POST', '/notes', { title: 'first' })).body;
      this.acknowledge(note);
      for (const title of ['second', 'third']) {
        const change = { title, base_revision: note.revision };
        ({ note } = (await device.send('PATCH', `/notes/${note.id}`, change)).body);
        this.acknowledge(note);
      }
    }
  }

  private acknowledge({ id, revision, title }: { id: string; revision: number; title: string }): void {
    this.acknowledged.set(id, { revision, title });
    this.writes += 1;
  }

  /** Long polls the feed until it has returned every acknowledged write. */
  private async poll(device: Device, start: string): Promise<void> {
    let cursor = start;
    const isBehind = () =>
      [...this.acknowledged].some(([id, { revision }]) => this.read.get(id)?.revision !== revision);
    while (!this.written || isBehind()) {
      const { body } = await device.send('GET', `/notes/changes?cursor=${cursor}&wait=5`);
      for (const { id, revision, title } of body.notes) this.read.set(id, { revision, title });
      ({ cursor } = body);
    }
  }
}

describe('a rolling restart under traffic', () => {
  let app: TestApp;
  let ann: TestUser;
  let servers: ServerProcess[];

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    const settings = { DATA_DIR: app.dataDir, MAIL_SERVICE_URL: 'http://127.0.0.1:9' };
    const ports = [await freePort(), await freePort()];
    servers = ports.map((port) => new ServerProcess(app.databaseUrl, port, settings));
    for (const server of servers) await server.start();
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.stop('SIGKILL');
    await app?.stop();
  });

  test('loses and repeats no acknowledged write, and returns no error but 503 with Retry-After', async () => {
    const { cursor } = (await ann.api.get('/notes/changes')).body;
    const traffic = new Traffic(
      servers.map(({ base }) => base),
      ann.token,
      cursor,
    );
    const moreWrites = async (): Promise<void> => {
      const goal = traffic.writes + WRITES;
      await until('writes', () => traffic.writes >= goal);
    };
    for (const server of servers) {
      await moreWrites();
      await server.stop('SIGTERM');
      await moreWrites();
      await server.start();
    }
    await moreWrites();
    await traffic.stop();

    expect(traffic.devices.flatMap(({ unexpected }) => unexpected)).toEqual([]);
    // Devices lost connections to the stopped processes and continued at the other one.
    expect(traffic.devices.some(({ broken }) => Object.keys(broken).length > 0)).toBe(true);
    const stored = await app.sql<{ id: string; revision: number; title: string }>(
      'SELECT id, revision, title FROM notes WHERE tenant_id = $1',
      [ann.tenantId],
    );
    const byId = (entries: Iterable<[string, object]>) => Object.fromEntries(entries);
    expect(byId(stored.map(({ id, ...note }) => [id, note]))).toEqual(byId(traffic.acknowledged));
    expect(byId(traffic.read)).toEqual(byId(traffic.acknowledged));
    expect(servers.map(({ output }) => output).join('')).not.toMatch(/"level":(?:50|60)/);
  });
});
