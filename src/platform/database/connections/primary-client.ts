import pg from 'pg';
import { DatabaseHosts } from './database-hosts.js';

/** Settings of PostgreSQL that a session begins with: name and value. */
export type SessionSettings = Readonly<Record<string, string>>;

/** The configuration of a connection. The application sets no other start-up parameters: PgBouncer rejects most of them. */
export type PrimaryClientConfig = Omit<
  pg.ClientConfig,
  'options' | 'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout'
> & { session?: SessionSettings | undefined };

/** The server of a new connection is a standby: it has old rows and accepts no writes. */
export class StandbyError extends Error {
  /** read_only_sql_transaction, which PostgreSQL answers to a write there. */
  readonly code = '25006';

  constructor(host: string) {
    super(`the PostgreSQL server at ${host} is a standby, which accepts no writes`);
    this.name = 'StandbyError';
  }
}

/**
 * A connection to a primary server. Its first statement sets the session and asks whether the server is a standby: if it is, the
 * connection fails, as it does without a server. After a fail-over, a proxy may lead new connections to a standby for some seconds;
 * reads on one that stays open would miss acknowledged writes. A connection string may name several hosts (`DatabaseHosts`).
 */
export class PrimaryClient extends pg.Client {
  /** Whether the server turned out to be a standby: results of statements that were already queued must not be used. */
  isRefused = false;
  private readonly session: SessionSettings;
  private readonly hosts: DatabaseHosts;

  constructor({ session = {}, ...config }: PrimaryClientConfig) {
    const hosts = DatabaseHosts.of(config.connectionString);
    super({ ...config, ...(hosts.isOne ? {} : { connectionString: hosts.firstUrl }) });
    this.hosts = hosts;
    this.session = session;
  }

  override connect(): Promise<pg.Client & this>;
  override connect(callback: (error: Error | undefined) => void): void;
  override connect(callback?: (error: Error | undefined) => void): Promise<pg.Client & this> | void {
    if (callback) return this.open(callback);
    return new Promise((resolve, reject) => {
      this.open((error) => (error ? reject(error) : resolve(this)));
    });
  }

  private open(callback: (error: Error | undefined) => void): void {
    let isOver = false;
    const finish = (error?: Error): void => {
      if (isOver) return;
      isOver = true;
      if (error) this.hosts.forget();
      callback(error);
    };
    // The first statement of the queue, before those that callers add while the connection opens.
    this.query<{ standby: boolean }>(this.setUp(), (error, result) => {
      if (error) return finish(error);
      if (!result.rows[0]?.standby) return finish();
      this.isRefused = true;
      this.end(() => undefined);
      finish(new StandbyError(`${this.host}:${this.port}`));
    });
    const begin = (): void => super.connect((error: Error | undefined) => error && finish(error));
    if (this.hosts.isOne) begin();
    else this.chooseHost().then(begin, finish);
  }

  /** The hosts share everything else of the connection string. pg reads the address when it connects. */
  private async chooseHost(): Promise<void> {
    Object.assign(this, await this.hosts.find());
  }

  private setUp(): pg.QueryConfig {
    const settings = Object.entries(this.session);
    return {
      text: `SELECT pg_is_in_recovery() AS standby, ARRAY(SELECT set_config(name, value, false)
               FROM unnest($1::text[], $2::text[]) AS session (name, value))`,
      values: [settings.map(([name]) => name), settings.map(([, value]) => value)],
    };
  }
}
