import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freePort, ROOT, ServerProcess } from '../sync/servers.ts';
import { ChatFuzzer, type ChatUser } from './fuzzer.ts';

/**
 * The long run: two server processes, which are killed now and then, on a PostgreSQL of their own, which is killed as well.
 *
 *     npm run fuzz:realtime -- --minutes 30 --seed 7
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: `${Date.now()}` },
    actions: { type: 'string', default: '120' },
  },
});

const dist = (file: string): Promise<any> => import(path.join(ROOT, 'dist', file));
const { EmbeddedDatabase } = await dist('platform/database/embedded/embedded-database.js');
const { migrateDatabase } = await dist('app.prepare.js');
const { createApp } = await dist('app.setup.js');
const { Config } = await dist('config/config.js');
const { provision } = await dist('provision/provision.js');

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'fuzz-realtime-'));
const log = { info: () => undefined, warn: console.warn, error: console.error };
const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
const servers: ServerProcess[] = [];
process.once('exit', () => servers.forEach((server) => server.kill()));

async function users(): Promise<ChatUser[]> {
  const config = Config.parse({ DATABASE_URL: database.url, DEMO: 'false', LOG_LEVEL: 'warn' });
  await migrateDatabase(config, database.url);
  const { nest } = await createApp(config, database.url);
  const people = ['alice', 'bob', 'carol', 'dora'].map((name, n) => ({
    email: `${name}@acme.example`,
    name,
    role: n === 0 ? 'owner' : 'member',
  }));
  const { users: made } = await provision(nest, { tenants: [{ slug: 'acme', users: people }] }, true);
  await nest.close();
  return made.map(({ id, token }: ChatUser) => ({ id, token }));
}

/** Kills the server of PostgreSQL; the embedded database starts it again. */
function killPostgres(): void {
  const [file = ''] = globSync(path.join(dataDir, '**', 'postmaster.pid'));
  process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
}

try {
  const members = await users();
  for (let n = 0; n < 2; n += 1) servers.push(new ServerProcess(database.url, await freePort()));
  for (const server of servers) await server.start();
  const end = Date.now() + Number(values.minutes) * 60_000;
  console.log(`seed ${values.seed}, ${values.minutes} minutes`);
  const site = {
    bases: servers.map(({ base }) => base),
    users: members,
    disturbances: {
      'first process killed': () => servers[0]!.crash(),
      'second process killed': () => servers[1]!.crash(),
      'PostgreSQL killed': async () => killPostgres(),
    },
  };
  const fuzzer = new ChatFuzzer(site, {
    seed: values.seed,
    actionsPerRound: Number(values.actions),
    goOn: () => Date.now() < end,
    progress: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  await fuzzer.run();
  console.log('No difference.');
} catch (error) {
  console.error(error);
  for (const { output } of servers) console.error(output.split('\n').slice(-10).join('\n'));
  process.exitCode = 1;
} finally {
  for (const server of servers) await server.stop('SIGTERM');
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
