import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { SOCKET_PORT } from './layout.js';
import { runProgram } from './run-program.js';

/** Folder of the server's log in the cluster: one file for each day of the week, overwritten a week later. */
export const LOG_DIR = 'log';

/** Settings of PostgreSQL by name. */
export type ServerSettings = Readonly<Record<string, string>>;

/**
 * The settings of the embedded server, as arguments of `postgres`. With a file, a later version would have to find and
 * rewrite it. An acknowledged commit survives kill -9 and power loss: `fsync` and `synchronous_commit` keep their default,
 * on, and are listed so that no configuration file can turn them off.
 * @param others settings that replace or complete these
 */
export async function serverArguments(
  cluster: string,
  socketDir: string,
  account: Account,
  binaries: Binaries,
  others: ServerSettings,
): Promise<string[]> {
  const settings: Record<string, string> = {
    listen_addresses: '',
    // The setting is a list: quotes keep a comma in the path from dividing it.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(SOCKET_PORT),
    max_connections: '200',
    // Commits in several databases of this server (docs/scaling.md).
    max_prepared_transactions: '50',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    shared_buffers: '128MB',
    wal_compression: await bestWalCompression(cluster, account, binaries),
    random_page_cost: '1.1',
    jit: 'off',
    // While an empty table grows, as in an import, cached plans read all its rows until the next ANALYZE. The default is a minute.
    autovacuum_naptime: '10s',
    TimeZone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'on',
    log_directory: LOG_DIR,
    log_filename: 'postgres-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    // The application reports failed statements; in this log they would only copy user data into a file.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
  };
  if (binaries.hasPgStatStatements) settings['shared_preload_libraries'] = 'pg_stat_statements';
  Object.assign(settings, others);
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** lz4 where this PostgreSQL includes it, else the built-in compression. */
async function bestWalCompression(cluster: string, account: Account, binaries: Binaries): Promise<string> {
  const probe = ['-D', cluster, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  const { code } = await runProgram(account.command(binaries.postgres, probe));
  return code === 0 ? 'lz4' : 'on';
}
