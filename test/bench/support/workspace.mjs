// The beginning and the end of a bench with an embedded database and a workspace of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { provision } from '../../../dist/provision/provision.js';
import { startServer } from './processes.mjs';

const POOL = 10;

/** Writes a line. */
export const print = (text) => process.stdout.write(`${text}\n`);

/**
 * Prevents periodic jobs in a database: one would start during a measurement, e.g. index the seeded items, which have no events.
 * No job can be claimed, whatever its interval is.
 */
export const preventJobs = (client) =>
  client.query(`CREATE OR REPLACE FUNCTION bench_no_run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE OR REPLACE TRIGGER bench_no_run BEFORE INSERT OR UPDATE ON job_runs FOR EACH ROW EXECUTE FUNCTION bench_no_run()`);

/**
 * Runs a bench in a new workspace and removes everything afterwards.
 * @param name of the temporary directory
 * @param main receives `{ directory, databaseUrl, owner: { id, tenant_id, token }, users, server(settings), stopAtEnd(listener) }`
 * @param names of the users; the first one owns the workspace
 */
export async function withWorkspace(name, main, names = ['Ada']) {
  const directory = mkdtempSync(path.join(tmpdir(), `workspace-${name}-bench-`));
  const log = { info: () => undefined, warn: print, error: print };
  const database = await EmbeddedDatabase.open({ dataDir: directory, role: 'server', log });
  const listeners = [];
  const stopAtEnd = (listener) => {
    listeners.push(listener);
    return listener;
  };
  try {
    const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', DEMO: 'false' });
    const members = names.map((one, n) => ({
      email: `${one.toLowerCase()}@bench.example`,
      name: one,
      role: n === 0 ? 'owner' : 'member',
    }));
    const { users } = await withApp(config, (app) =>
      provision(app, { tenants: [{ slug: 'bench', users: members }] }, true),
    );
    const server = async (settings = {}) =>
      stopAtEnd(
        await startServer(database.url, POOL, [], { DATA_DIR: path.join(directory, 'server'), ...settings }),
      );
    await main({
      directory,
      databaseUrl: database.url,
      pool: POOL,
      owner: users[0],
      users,
      server,
      stopAtEnd,
    });
  } finally {
    for (const listener of listeners) await listener.stop();
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
