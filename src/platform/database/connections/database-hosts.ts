import pg from 'pg';
import { singleHostUrls } from '../../../config/store-urls.js';

/** Time limit of a search for the primary, milliseconds. Below the time limit of a connection. */
const SEARCH_MS = 3_000;

interface Address {
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
 * and pg does not. All connections of a process use the host that was found to be the primary, until one of them fails.
 */
export class DatabaseHosts {
  private static readonly known = new Map<string, DatabaseHosts>();
  private found: Promise<Address> | undefined;

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

  /** Finds the primary: of several, the first one listed. @throws NoPrimaryError */
  find(): Promise<Address> {
    this.found ??= this.search();
    return this.found;
  }

  /** The next connection looks for the primary again. */
  forget(): void {
    this.found = undefined;
  }

  private async search(): Promise<Address> {
    const results = await Promise.allSettled(this.urls.map(examine));
    const primary = results.find((result) => result.status === 'fulfilled');
    if (primary) return primary.value;
    this.forget();
    throw new NoPrimaryError(results.map((result) => (result as PromiseRejectedResult).reason));
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
