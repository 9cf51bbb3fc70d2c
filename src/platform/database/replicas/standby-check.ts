import type pg from 'pg';
import { runOn } from '../run-on.js';
import { either } from '../statement.js';
import { type Position, positionOf } from './positions.js';
import { IDENTITY, type Identity, NoReplicaError, ReplicaClient } from './replica-client.js';

/** How far a standby has come. */
export interface StandbyState {
  reached: boolean;
  /** Bytes of WAL between the position and the last replayed one. */
  behind: number;
  /** Whether it has the history of the primary. */
  follows: boolean;
}

/**
 * The timeline of a standby: that of its WAL receiver, which roles with pg_read_all_stats see, or else that of its last restart point,
 * which is an earlier one for some minutes after a fail-over. The time limit is that of the next statements.
 */
const check = either.statement<StandbyState & { standby: boolean; set_config: string }>(
  'replicas.check',
  `SELECT pg_is_in_recovery() AS standby, coalesce(replayed.lsn >= $1::pg_lsn, false) AS reached,
          coalesce(greatest(0, $1::pg_lsn - replayed.lsn), 0)::float8 AS behind,
          coalesce((SELECT received_tli FROM pg_stat_wal_receiver),
                   greatest((SELECT timeline_id FROM pg_control_checkpoint()),
                            (SELECT min_recovery_end_timeline FROM pg_control_recovery()))) = $2::int AS follows,
          set_config('statement_timeout', $3, false)
     FROM (SELECT pg_last_wal_replay_lsn() AS lsn) replayed`,
  { reach: 'cell' },
);

export const identityOf = either.statement<Identity>('replicas.identity', `SELECT ${IDENTITY}`, {
  reach: 'cell',
});

/**
 * Asks a standby whether it has replayed a position.
 * @param limit time limit of the next statements of the connection, milliseconds
 * @param responseLimit of this one
 * @throws NoReplicaError, or the error of the server
 */
export async function checkStandby(
  client: pg.ClientBase,
  { lsn, timeline }: Position,
  limit: number,
  responseLimit: number,
): Promise<StandbyState> {
  const [found] = await runOn(client, check, [lsn, timeline, String(limit)], responseLimit);
  if (!found?.standby) throw new NoReplicaError('it is no standby: it accepts writes');
  return found;
}

/**
 * Looks at a replica once.
 * @param primary a connection to its primary
 * @param limit time for each step, milliseconds
 * @throws NoReplicaError, or the error of a server
 */
export async function examineReplica(
  url: string,
  primary: pg.ClientBase,
  limit: number,
): Promise<StandbyState> {
  const [identity] = await runOn(primary, identityOf, []);
  const client = new ReplicaClient({
    connectionString: url,
    identity: identity as Identity,
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const [position] = await runOn(primary, positionOf, []);
    return await checkStandby(client, position as Position, limit, limit);
  } finally {
    await client.end().catch(() => undefined);
  }
}
