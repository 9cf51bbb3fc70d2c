import { type Address, DatabaseHosts } from './database-hosts.js';
import { SessionClient, type SessionConfig } from './session-client.js';

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
 * A connection to a primary server; on a standby it fails. After a fail-over, a proxy may lead new connections to a standby for some
 * seconds; reads on one that stays open would miss acknowledged writes. A connection string may name several hosts (`DatabaseHosts`).
 */
export class PrimaryClient extends SessionClient<{ standby: boolean }> {
  protected readonly questions = 'pg_is_in_recovery() AS standby';
  private readonly hosts: DatabaseHosts;
  private address: Address | undefined;

  constructor(config: SessionConfig) {
    const hosts = DatabaseHosts.of(config.connectionString);
    super({ ...config, ...(hosts.isOne ? {} : { connectionString: hosts.firstUrl }) });
    this.hosts = hosts;
  }

  protected override refusal({ standby }: { standby: boolean }): Error | undefined {
    return standby ? new StandbyError(`${this.host}:${this.port}`) : undefined;
  }

  /** The hosts share everything else of the connection string. pg reads the address when it connects. */
  protected override findServer(): Promise<void> | undefined {
    return this.hosts.isOne ? undefined : this.findHost();
  }

  private async findHost(): Promise<void> {
    this.address = await this.hosts.find();
    Object.assign(this, this.address);
  }

  protected override failedToOpen(): void {
    if (this.address) this.hosts.forget(this.address);
  }
}
