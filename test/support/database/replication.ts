import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Db } from '../../../src/platform/database/db.js';
import { EmbeddedDatabase } from '../../../src/platform/database/embedded/embedded-database.js';
import type { Replica } from '../../../src/platform/database/replicas/replica.js';
import { memoryDirectory } from '../memory-directory.ts';
import { until } from '../until.ts';
import { inDatabase } from './database.ts';
import type { TestServer } from './standby.ts';

const quiet = (): void => undefined;
const log = { info: quiet, warn: quiet, error: quiet };

/** A primary server with standbys that stream its WAL, each with the durability of production. */
export interface Replication {
  primary: TestServer;
  standbys: readonly TestServer[];
  stop: () => Promise<void>;
}

/** @param standbys settings of PostgreSQL for each standby */
export async function startReplication(...standbys: Record<string, string>[]): Promise<Replication> {
  // WAL that a stopped standby has not received stays.
  const primary = await start({ wal_keep_size: '512MB' });
  const started = await Promise.all(standbys.map((settings) => startStandby(primary.url, settings)));
  return {
    primary,
    standbys: started,
    stop: async () => {
      await Promise.all(started.map((standby) => standby.stop()));
      await primary.stop();
    },
  };
}

function startStandby(primaryUrl: string, settings: Record<string, string>): Promise<TestServer> {
  const { searchParams, port, username } = new URL(primaryUrl);
  const source = `host=${searchParams.get('host')} port=${port} user=${username} sslmode=disable`;
  return start({ primary_conninfo: source, wal_retrieve_retry_interval: '100ms', ...settings }, true);
}

/** All servers begin as copies of one stopped installation, so they are one system for PostgreSQL. */
async function start(settings: Record<string, string>, isStandby = false): Promise<TestServer> {
  const dataDir = memoryDirectory('workspace-replication-');
  cpSync(process.env['TEST_INSTALLATION']!, dataDir, { recursive: true });
  if (isStandby) writeFileSync(path.join(dataDir, 'postgres', 'standby.signal'), '');
  const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log, settings });
  return {
    url: database.url,
    stop: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Stops or resumes the replay of the WAL that a standby receives. */
export async function setReplay(standby: TestServer, isRunning: boolean): Promise<void> {
  await inDatabase(standby.url, `SELECT pg_wal_replay_${isRunning ? 'resume' : 'pause'}()`);
  if (!isRunning)
    await until(
      'the pause',
      async () =>
        (await inDatabase(standby.url, `SELECT pg_get_wal_replay_pause_state() AS state`))[0].state ===
        'paused',
    );
}

/** The replicas of an application. */
export const replicasOf = (db: Db): readonly Replica[] => db.main.replicas!.all;

export const usable = (db: Db, index = 0): Promise<unknown> =>
  until('the replica', () => replicasOf(db)[index]!.isUsable);
