import { SessionClient, type SessionConfig } from '../connections/session-client.js';

/** What a physical standby has in common with its primary. */
export interface Identity {
  /** Of the installation: `initdb` chose it. */
  system: string;
  /** The database's OID. */
  database: string;
}

interface Server extends Identity {
  standby: boolean;
  name: string;
}

/** SQL: the columns of `Identity`. */
export const IDENTITY = `(SELECT system_identifier::text FROM pg_control_system()) AS system,
       (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database`;

/** The server is no standby of the primary. */
export class NoReplicaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoReplicaError';
  }
}

export type ReplicaClientConfig = SessionConfig & { identity: Identity };

/** A connection to a standby of the primary; on another server it fails. */
export class ReplicaClient extends SessionClient<Server> {
  protected readonly questions = `pg_is_in_recovery() AS standby, current_database() AS name, ${IDENTITY}`;
  private readonly identity: Identity;

  constructor({ identity, ...config }: ReplicaClientConfig) {
    super(config);
    this.identity = identity;
  }

  protected override refusal({ standby, name, system, database }: Server): Error | undefined {
    if (system !== this.identity.system)
      return new NoReplicaError(
        `it belongs to another installation of PostgreSQL (system identifier ${system}) than DATABASE_URL (${this.identity.system})`,
      );
    if (database !== this.identity.database)
      return new NoReplicaError(`its database ${name} is not that of DATABASE_URL`);
    return standby ? undefined : new NoReplicaError('it is no standby: it accepts writes');
  }
}
