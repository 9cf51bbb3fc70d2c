import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { fuzz } from './fuzzer.ts';
import { freePort, ROOT, ServerProcess } from './servers.ts';
import type { Site, User } from './world.ts';

/**
 * The long run: two server processes, killed now and then, on a PostgreSQL of their own. Needs a build.
 *
 *     npm run fuzz:sync -- --minutes 30 --seed 7
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: `${Date.now()}` },
    actions: { type: 'string', default: '400' },
    performers: { type: 'string', default: '10' },
    crashes: { type: 'string', default: 'true' },
  },
});

const dist = (file: string): Promise<any> => import(path.join(ROOT, 'dist', file));
const { EmbeddedDatabase } = await dist('platform/database/embedded/embedded-database.js');
const { migrateDatabase } = await dist('app.prepare.js');
const { createApp } = await dist('app.setup.js');
const { Config } = await dist('config/config.js');
const { provision } = await dist('provision/provision.js');
const { FeedRetention } = await dist('platform/sync/feed-retention.js');
const { CalendarHousekeeping } = await dist('modules/calendar/calendar-housekeeping.js');
const { TrashPurge } = await dist('modules/notes/trash-purge.js');
const { TaskClock } = await dist('modules/tasks/schedule/task-clock.js');

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'fuzz-sync-'));
const closers: (() => unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
let closing: Promise<void> | undefined;
const close = (): Promise<void> =>
  (closing ??= (async () => {
    for (const closer of closers.toReversed()) await closer();
  })());
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted = true;
    void close().then(() => process.exit(130));
  });

async function site(): Promise<{ site: Site; servers: ServerProcess[] }> {
  const quiet = (): void => undefined;
  const log = { info: quiet, warn: console.warn, error: console.error };
  const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
  closers.push(() => database.close());
  const databaseUrl = database.url as string;
  const config = Config.parse({
    DATABASE_URL: databaseUrl,
    DEMO: 'false',
    LOG_LEVEL: 'warn',
    DATABASE_POOL_MAX: '4',
  });
  await migrateDatabase(config, databaseUrl);
  // The jobs (retention, purging the trash) run in this process when the fuzzer calls them.
  const { nest: jobs } = await createApp(config, databaseUrl);
  closers.push(() => jobs.close());
  const tenant = (slug: string, ...names: string[]) => ({
    slug,
    users: names.map((name, n) => ({
      email: `${name}@${slug}.example`,
      name,
      role: n === 0 ? 'owner' : 'member',
    })),
  });
  const tenants = [tenant('acme', 'alice', 'bob', 'carol'), tenant('other', 'canary')];
  const people = await provision(jobs, { tenants }, true);
  // A server would run it while devices are compared with the service, and it changes address books.
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  await admin.query(
    `CREATE FUNCTION fuzz_no_run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER fuzz_no_run BEFORE INSERT OR UPDATE ON job_runs FOR EACH ROW
       WHEN (NEW.name = 'received-addresses') EXECUTE FUNCTION fuzz_no_run()`,
  );
  await admin.end();
  const users = people.users.map((user: any): User => ({
    id: user.id,
    email: user.email,
    name: user.email.split('@')[0],
    tenantId: user.tenant_id,
    token: user.token,
  })) as User[];
  const servers = [
    new ServerProcess(databaseUrl, await freePort()),
    new ServerProcess(databaseUrl, await freePort()),
  ];
  for (const server of servers) closers.push(() => server.stop('SIGTERM'));
  process.once('exit', () => servers.forEach((server) => server.kill()));
  for (const server of servers) await server.start();
  return {
    servers,
    site: {
      databaseUrl,
      bases: servers.map((server) => server.base),
      users: users.slice(0, 3),
      canary: users[3] as User,
      forget: (before) =>
        Promise.all(
          [FeedRetention, CalendarHousekeeping].map((job) => jobs.get(job, { strict: false }).forget(before)),
        ),
      purgeTrash: () =>
        Promise.all([TrashPurge, TaskClock].map((job) => jobs.get(job, { strict: false }).purge())),
      crash: async (index) => servers[index]?.crash(),
    },
  };
}

const seed = values.seed;
try {
  const world = await site();
  const end = Date.now() + Number(values.minutes) * 60_000;
  console.log(`seed ${seed}, ${values.minutes} minutes`);
  const { rounds, counts, failure } = await fuzz(world.site, {
    seed,
    performers: Number(values.performers),
    actionsPerRound: Number(values.actions),
    crashes: values.crashes === 'true',
    goOn: () => Date.now() < end && !interrupted,
    progress: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  if (!interrupted) {
    console.log(JSON.stringify(counts, null, 1));
    for (const [n, { output }] of world.servers.entries()) {
      const lines = output.split('\n').filter((line) => line.startsWith('{'));
      if (lines.length > 0) console.log(`The last output of server ${n}:\n${lines.slice(-10).join('\n')}`);
    }
    console.log(failure ?? `No difference in ${rounds} rounds.`);
    if (failure !== undefined)
      console.log(
        `\nAgain: npm run fuzz:sync -- --seed ${seed} --actions ${values.actions} --performers ${values.performers}`,
      );
    process.exitCode = failure === undefined ? 0 : 1;
  }
} catch (error) {
  if (!interrupted) {
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  await close();
}
