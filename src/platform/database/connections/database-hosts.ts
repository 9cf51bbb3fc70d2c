import pg from 'pg';
import { singleHostUrls } from '../../../config/store-urls.js';
import { destroy } from './fair-pool.js';

/** Time limit of a search for the primary, milliseconds. Below the time limit of a connection. */
const SEARCH_MS = 3_000;
/** Time between two questions to the primary of open connections, milliseconds. */
const WATCH_MS = 1_000;
/** A primary that does not answer within this time is suspected, and the other hosts are asked; milliseconds. */
const SILENT_MS = 2_000;
/** Time limit of a host that is asked then. No host is waited for longer, so that the next question follows soon. */
const ASKED_MS = 1_000;

/** The address of a primary. Each search makes a new object, by which `forget` tells its result from that of a later one. */
export interface Address {
  host: string;
  port: number;
  /** The connection string of this host alone. */
  url: string;
}

/** A connection to one of the hosts. */
export interface HostConnection {
  readonly address: Address | undefined;
  /** Ends it at once: its statements fail. */
  abandon(): void;
}

/** No host of a connection string is a primary server that responds. */
export class NoPrimaryError extends AggregateError {
  /** As of an address without a server: the database is unavailable for the moment. */
  readonly code = 'ECONNREFUSED';

  constructor(errors: readonly unknown[]) {
    super(
      errors,
      `no host is a primary server: ${errors.map((error) => (error as Error).message).join('; ')}`,
    );
    this.name = 'NoPrimaryError';
  }
}

/**
 * The hosts of a connection string such as `postgres://user@one,two:5433/name?target_session_attrs=read-write`, which libpq accepts
 * and pg does not. All connections of a process use the host that was found to be the primary, until one of them fails to open or to respond.
 */
export class DatabaseHosts {
  private static readonly known = new Map<string, DatabaseHosts>();
  private search: Promise<Address> | undefined;
  /** The result of this search, once it has succeeded. */
  private found: Address | undefined;
  private readonly connections = new Set<HostConnection>();
  private timer: NodeJS.Timeout | undefined;
  private isAsking = false;
  /** The connection that asks, and the address that it was opened for. */
  private asking: { client: pg.Client; address: Address } | undefined;

  private constructor(private readonly urls: readonly string[]) {}

  /** @param url a connection string; undefined: of the environment, one host */
  static of(url = ''): DatabaseHosts {
    let hosts = this.known.get(url);
    if (!hosts) this.known.set(url, (hosts = new DatabaseHosts(singleHostUrls(url))));
    return hosts;
  }

  get isOne(): boolean {
    return this.urls.length === 1;
  }

  get firstUrl(): string {
    return this.urls[0]!;
  }

  /** Finds the primary: the first one that responds, because a host that has lost its network never does. @throws NoPrimaryError */
  find(): Promise<Address> {
    return (this.search ??= this.begin());
  }

  /**
   * The next connection looks for the primary again.
   * @param address of a failed connection; missing: any. A connection that fails late leaves the result of a later search alone.
   */
  forget(address = this.found): void {
    if (this.found !== address) return;
    this.search = this.found = undefined;
  }

  /**
   * Watches the primary while the connection is open. A host that hangs or has lost its network closes nothing: without this, the
   * connections would wait for the limit of their statements long after another host has become the primary.
   */
  join(connection: HostConnection): void {
    this.connections.add(connection);
    this.timer ??= setInterval(() => void this.watch(), WATCH_MS).unref();
  }

  leave(connection: HostConnection): void {
    this.connections.delete(connection);
    if (this.connections.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.stopAsking();
  }

  /** Ends connections to a host once another one responds as the primary and this one does not. */
  private async watch(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const primary = (await this.confirmed()) ?? (await this.searchOnce());
      if (!primary) return;
      for (const connection of this.connections)
        if (connection.address && !isSameHost(connection.address, primary)) connection.abandon();
    } finally {
      this.isAsking = false;
    }
  }

  /** @returns the known primary, if it responds as one */
  private async confirmed(): Promise<Address | undefined> {
    const address = this.found;
    if (!address) return undefined;
    if (this.asking?.address !== address) {
      this.stopAsking();
      this.asking = { client: clientOf(address.url, SILENT_MS), address };
      // It fails its query too.
      this.asking.client.connect().catch(() => undefined);
    }
    const { client } = this.asking;
    const isPrimary = await assertPrimary(client).then(
      () => true,
      () => false,
    );
    if (isPrimary) return address;
    if (this.asking?.client === client) this.stopAsking();
    return undefined;
  }

  /** @returns the host that responds as the primary, which new connections then use */
  private async searchOnce(): Promise<Address | undefined> {
    const primary = await Promise.any(this.urls.map((url) => examine(url, ASKED_MS))).catch(() => undefined);
    if (primary && !(this.found && isSameHost(this.found, primary))) {
      this.search = Promise.resolve(primary);
      this.found = primary;
    }
    return primary;
  }

  private stopAsking(): void {
    if (this.asking) destroy(this.asking.client);
    this.asking = undefined;
  }

  /** A search that was forgotten meanwhile leaves the state of a later one alone. */
  private begin(): Promise<Address> {
    const search: Promise<Address> = Promise.any(this.urls.map((url) => examine(url, SEARCH_MS))).then(
      (address) => {
        if (this.search === search) this.found = address;
        return address;
      },
      (error: AggregateError) => {
        if (this.search === search) this.search = undefined;
        throw new NoPrimaryError(error.errors);
      },
    );
    return search;
  }
}

const isSameHost = (one: Address, other: Address): boolean =>
  one.host === other.host && one.port === other.port;

/** @param limit of the start and of each query, milliseconds */
function clientOf(url: string, limit: number): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'workspace hosts',
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
  client.on('error', () => undefined);
  return client;
}

/** @throws Error unless the server is a primary */
async function assertPrimary(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby) throw new Error(`${client.host}:${client.port} is a standby`);
}

/** @throws Error unless the server is a primary */
async function examine(url: string, limit: number): Promise<Address> {
  const client = clientOf(url, limit);
  try {
    await client.connect();
    await assertPrimary(client);
    return { host: client.host, port: client.port, url };
  } finally {
    await client.end().catch(() => undefined);
  }
}
