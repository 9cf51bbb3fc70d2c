import pg from 'pg';

/** Settings of PostgreSQL that a session begins with: name and value. */
export type SessionSettings = Readonly<Record<string, string>>;

/** The configuration of a connection. The application sets no other start-up parameters: PgBouncer rejects most of them. */
export type SessionConfig = Omit<
  pg.ClientConfig,
  'options' | 'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout'
> & { session?: SessionSettings | undefined };

/**
 * A connection whose first statement sets the session and asks what the server is: on a server that it must not use, the connection
 * fails, as it does without a server.
 */
export abstract class SessionClient<Server extends object> extends pg.Client {
  /** Whether the server turned out to be unusable: results of statements that were already queued must not be used. */
  isRefused = false;
  private readonly session: SessionSettings;

  constructor({ session = {}, ...config }: SessionConfig) {
    super(config);
    this.session = session;
    // The statement that is running fails with the same error. A pool listens too, but only once the session is set.
    this.on('error', () => undefined);
  }

  override connect(): Promise<pg.Client & this>;
  override connect(callback: (error: Error | undefined) => void): void;
  override connect(callback?: (error: Error | undefined) => void): Promise<pg.Client & this> | void {
    if (callback) return this.open(callback);
    return new Promise((resolve, reject) => {
      this.open((error) => (error ? reject(error) : resolve(this)));
    });
  }

  /** SQL: the columns of `Server`. */
  protected abstract readonly questions: string;

  /** @returns the reason why the connection must not be used */
  protected abstract refusal(server: Server): Error | undefined;

  /** Completes the address of the server. Undefined means that it is complete. */
  protected findServer(): Promise<void> | undefined {
    return undefined;
  }

  /** Called when the connection has failed to open. */
  protected failedToOpen(): void {}

  private open(callback: (error: Error | undefined) => void): void {
    let isOver = false;
    const finish = (error?: Error): void => {
      if (isOver) return;
      isOver = true;
      if (error) this.failedToOpen();
      callback(error);
    };
    // The first statement of the queue, before those that callers add while the connection opens.
    this.query<Server>(this.setUp(), (error, result) => {
      if (error) return finish(error);
      const refusal = this.refusal(result.rows[0] as Server);
      if (!refusal) return finish();
      this.isRefused = true;
      this.end(() => undefined);
      finish(refusal);
    });
    const begin = (): void => super.connect((error: Error | undefined) => error && finish(error));
    const found = this.findServer();
    if (found) found.then(begin, finish);
    else begin();
  }

  private setUp(): pg.QueryConfig {
    const settings = Object.entries(this.session);
    return {
      text: `SELECT ${this.questions}, ARRAY(SELECT set_config(name, value, false)
               FROM unnest($1::text[], $2::text[]) AS session (name, value))`,
      values: [settings.map(([name]) => name), settings.map(([, value]) => value)],
    };
  }
}
