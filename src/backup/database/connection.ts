import type pg from 'pg';
import { BACKUP_LOCK } from '../../platform/blobs/backup-lock.js';
import { openConnection } from '../../platform/database/long-session.js';

/** Connections of backups and restores have this name in pg_stat_activity. */
export const APPLICATION_NAME = 'backup';

/** Opens a connection without time limits. It fails its next query when it is lost. */
export const connect = async (url: string): Promise<pg.Client> =>
  openConnection({ connectionString: url, application_name: APPLICATION_NAME, keepAlive: true });

/** Until the end of the connection, the collectors of files claim nothing in its database. */
export async function stopCollectors(client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_lock_shared($1, $2)', [BACKUP_LOCK.classId, BACKUP_LOCK.objectId]);
}
