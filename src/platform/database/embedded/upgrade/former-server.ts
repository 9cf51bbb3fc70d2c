import path from 'node:path';
import type pg from 'pg';
import { Account } from '../account.js';
import { readVersion, restoreOwner } from '../cluster.js';
import { DataDirInUseError, EmbeddedDatabaseError } from '../errors.js';
import { ensureSocketDir, SOCKET_PORT } from '../layout.js';
import { becomeServer, LOCK, tryLock } from '../locks.js';
import { type EmbeddedLog, findServer, Postmaster } from '../postmaster.js';
import type { FormerPrograms } from './former-programs.js';
import type { RunningCluster } from './copy-cluster.js';
import { SOCKETS } from './interrupted-upgrade.js';

/** Settings of each connection of the upgrade. The server has the usual ones: it may outlive this process, and the former release takes it over. */
const SESSION = { default_transaction_read_only: 'on' };
/** Time for which a command of a former release may go on. */
const USERS_MS = 10_000;

/**
 * The server of a former cluster, for one process: a server or command of the former release that starts meanwhile waits for
 * the locks of this one, and another upgrade ends.
 */
export class FormerServer {
  private constructor(
    private readonly client: pg.Client,
    private readonly postmaster: Postmaster,
    /** For copies. */
    readonly running: RunningCluster,
  ) {}

  /**
   * Starts the server, or takes over the one of an upgrade that was killed.
   * @throws DataDirInUseError while a server runs on the directory, or another upgrade
   * @throws EmbeddedDatabaseError while commands of the former release use it
   */
  static async open(
    dataDir: string,
    cluster: string,
    { binaries, pgDump }: FormerPrograms,
    log: EmbeddedLog,
  ): Promise<FormerServer> {
    const account = await Account.choose(dataDir, cluster, binaries);
    await restoreOwner(cluster, account);
    const socketDir = await ensureSocketDir(dataDir, account, SOCKETS.former);
    for (;;) {
      // Another process may have completed the upgrade meanwhile.
      if ((await readVersion(cluster)) !== binaries.major) throw new DataDirInUseError(dataDir);
      const postmaster = new Postmaster(dataDir, cluster, socketDir, account, binaries, log);
      const client = await postmaster.connect();
      try {
        await lock(client, dataDir, cluster);
        if ((await findServer(cluster))?.socketDir === socketDir) {
          const socket = path.join(socketDir, `.s.PGSQL.${SOCKET_PORT}`);
          const connection = (database: string) => ({ ...postmaster.connection(database), session: SESSION });
          return new FormerServer(client, postmaster, { socket, pgDump, connection });
        }
        // It was left by a killed server: other programs may reach it and write.
        await postmaster.stop();
      } catch (error) {
        await client.end().catch(() => undefined);
        throw error;
      }
      await client.end().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.postmaster.stop();
    await this.client.end().catch(() => undefined);
  }
}

async function lock(client: pg.Client, dataDir: string, cluster: string): Promise<void> {
  if (!(await becomeServer(client))) throw new DataDirInUseError(dataDir);
  if (await tryLock(client, LOCK.users, USERS_MS)) return;
  throw new EmbeddedDatabaseError(
    `A command of the former release uses the database in ${cluster}: start again when it has ended.`,
  );
}
