import { type Address, DatabaseHosts, type HostConnection } from './database-hosts.js';
import { destroy } from './fair-pool.js';
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
export class PrimaryClient extends SessionClient<{ standby: boolean }> implements HostConnection {
  protected readonly questions = 'pg_is_in_recovery() AS standby';
  /** Of the host, where there are several. */
  address: Address | undefined;
  private readonly hosts: DatabaseHosts;

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
    const { host, port } = this.address;
    Object.assign(this, { host, port });
    this.hosts.join(this);
    this.once('end', () => this.hosts.leave(this));
  }

  abandon(): void {
    destroy(this);
  }

  protected override failedToOpen(): void {
    if (!this.address) return;
    this.hosts.forget(this.address);
    this.hosts.leave(this);
  }
}
