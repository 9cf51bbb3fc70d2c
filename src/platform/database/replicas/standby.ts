import type { ClientBase } from 'pg';
import { awaitWithin } from '../../../lib/turns/index.js';
import { destroy } from '../connections/fair-pool.js';
import { SessionClient, type SessionConfig } from '../connections/session-client.js';
import { runOn } from '../run-on.js';
import { either } from '../statement.js';

/** What a physical standby has in common with its primary. */
export interface Identity {
  /** Of the installation: `initdb` chose it. */
  system: string;
  /** The database's OID. */
  database: string;
}

/** A position in the WAL of the primary. A standby that has replayed it has every change that was visible before. */
export interface Position {
  /** Text form of a `pg_lsn`. */
  lsn: string;
  /** After a fail-over, a standby of the former primary may have replayed a position of another history. */
  timeline: number;
  /** Distinguishes the server from others of its installation: the time of its start. */
  server: string;
}

/** How far a standby has come. */
export interface StandbyState {
  reached: boolean;
  /** Bytes of WAL between the position and the last replayed one. */
  behind: number;
  /** Whether it has the history of the primary. */
  follows: boolean;
}

const IDENTITY = `(SELECT system_identifier::text FROM pg_control_system()) AS system,
       (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database`;
const SERVER = 'extract(epoch FROM pg_postmaster_start_time())::text AS server';

export const identityOf = either.statement<Identity>('replicas.identity', `SELECT ${IDENTITY}`, {
  reach: 'cell',
});

/**
 * With `synchronous_commit` off, other sessions see a commit before it is in the flushed part of the WAL. pg_walfile_name() begins with
 * the timeline, as eight hexadecimal digits.
 */
export const positionOf = either.statement<Position>(
  'replicas.position',
  `SELECT current.lsn::text AS lsn, ('x' || left(pg_walfile_name(current.lsn), 8))::bit(32)::int AS timeline, ${SERVER}
     FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
                       ELSE pg_current_wal_flush_lsn() END AS lsn) current`,
  { reach: 'cell' },
);

/**
 * The timeline of a standby: that of its WAL receiver, which roles with pg_read_all_stats see, or else that of its last restart point,
 * which is an earlier one for some minutes after a fail-over. The time limit is that of the next statements.
 */
const check = either.statement<StandbyState & { standby: boolean; server: string; set_config: string }>(
  'replicas.check',
  `SELECT pg_is_in_recovery() AS standby, ${SERVER}, coalesce(replayed.lsn >= $1::pg_lsn, false) AS reached,
          coalesce(greatest(0, $1::pg_lsn - replayed.lsn), 0)::float8 AS behind,
          coalesce((SELECT received_tli FROM pg_stat_wal_receiver),
                   greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                            (SELECT min_recovery_end_timeline FROM pg_control_recovery()))) = $2::int AS follows,
          set_config('statement_timeout', $3, false)
     FROM (SELECT pg_last_wal_replay_lsn() AS lsn) replayed`,
  { reach: 'cell' },
);

/** The server is no standby of the primary: it is the primary itself, or a wrong one. */
export class NoReplicaError extends Error {
  constructor(
    message: string,
    readonly state: 'primary' | 'refused' = 'refused',
  ) {
    super(message);
    this.name = 'NoReplicaError';
  }
}

interface Server extends Identity {
  name: string;
}

/** A connection to a server with the database of the primary; on another server it fails. */
export class ReplicaClient extends SessionClient<Server> {
  protected readonly questions = `current_database() AS name, ${IDENTITY}`;
  private readonly identity: Identity;
  /** The name of the primary in messages for operators. */
  private readonly primary: string;

  /** @param config.cell undefined: of the database of DATABASE_URL */
  constructor({
    identity,
    cell,
    ...config
  }: SessionConfig & { identity: Identity; cell: string | undefined }) {
    super(config);
    this.identity = identity;
    this.primary = cell === undefined ? 'DATABASE_URL' : `the cell "${cell}"`;
  }

  protected override refusal({ name, system, database }: Server): NoReplicaError | undefined {
    if (system !== this.identity.system)
      return new NoReplicaError(
        `it belongs to another installation of PostgreSQL (system identifier ${system}) than ${this.primary} (${this.identity.system})`,
      );
    if (database !== this.identity.database)
      return new NoReplicaError(`its database ${name} is not that of ${this.primary}`);
    return undefined;
  }
}

/**
 * Asks a standby whether it has replayed a position.
 * @param limit time limit of the next statements of the connection, milliseconds
 * @param responseLimit of this one
 * @throws NoReplicaError, or the error of the server
 */
export async function checkStandby(
  client: ClientBase,
  { lsn, timeline, server }: Position,
  limit: number,
  responseLimit: number,
): Promise<StandbyState> {
  const [found] = await awaitWithin(responseLimit, runOn(client, check, [lsn, timeline, String(limit)]));
  if (found?.standby) return found;
  throw found?.server === server
    ? new NoReplicaError('it is the primary', 'primary')
    : new NoReplicaError('it is no standby: it accepts writes, and is not the primary server');
}

/** A replica of a cell; without one, of the database of DATABASE_URL. */
export interface ReplicaAddress {
  url: string;
  cell?: string | undefined;
}

/**
 * Looks at a replica once.
 * @param primary a connection to its primary
 * @param limit time for each step, milliseconds
 * @throws NoReplicaError, or the error of a server
 */
export async function examineReplica(
  { url, cell }: ReplicaAddress,
  primary: ClientBase,
  limit: number,
): Promise<StandbyState> {
  const [identity] = await runOn(primary, identityOf, []);
  const client = new ReplicaClient({ connectionString: url, identity: identity as Identity, cell });
  try {
    await awaitWithin(limit, client.connect());
    const [position] = await runOn(primary, positionOf, []);
    return await checkStandby(client, position as Position, limit, limit);
  } finally {
    destroy(client);
  }
}
