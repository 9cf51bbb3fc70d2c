import type pg from 'pg';
import { openConnection } from '../../platform/database/long-session.js';

/** Connections of backups and restores have this name in pg_stat_activity. */
export const APPLICATION_NAME = 'backup';

/** Opens a connection without time limits. It fails its next query when it is lost. */
export const connect = async (url: string): Promise<pg.Client> =>
  openConnection({ connectionString: url, application_name: APPLICATION_NAME, keepAlive: true });
