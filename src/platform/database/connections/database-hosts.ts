import pg from 'pg';
import { singleHostUrls } from '../../../config/store-urls.js';

/** Time limit of a search for the primary, milliseconds. Below the time limit of a connection. */
const SEARCH_MS = 3_000;

/** The address of a primary. Each search makes a new object, by which `forget` tells its result from that of a later one. */
export interface Address {
  host: string;
  port: number;
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

  /** A search that was forgotten meanwhile leaves the state of a later one alone. */
  private begin(): Promise<Address> {
    const search: Promise<Address> = Promise.any(this.urls.map(examine)).then(
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

/** @throws Error unless the server is a primary */
async function examine(url: string): Promise<Address> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'workspace hosts',
    connectionTimeoutMillis: SEARCH_MS,
    query_timeout: SEARCH_MS,
  });
  client.on('error', () => undefined);
  const { host, port } = client;
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    if (rows[0]?.standby) throw new Error(`${host}:${port} is a standby`);
    return { host, port };
  } finally {
    await client.end().catch(() => undefined);
  }
}
