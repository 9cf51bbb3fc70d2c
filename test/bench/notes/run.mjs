// `npm run bench`: the built server against a bare one with the same responses from the same SQL. See README.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { Connection } from '../support/connection.mjs';
import { markdown } from '../support/markdown.mjs';
import { comparable, OPERATIONS } from './operations/operations.mjs';
import { Load, startFloor, startServer, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { COUNTED, OperationProfiles } from '../support/operation-profile.mjs';
import { bars, heading, line, row } from '../support/report.mjs';
import { seed } from './seed.mjs';
import { setUp, tripsPerRequest } from './trips.mjs';

const HELP = `npm run bench -- [options]
  --duration S      seconds measured per operation, connections and target (5)
  --quick           1 second, and a tenth of the data
  --only A,B        of ${Object.keys(OPERATIONS).join(', ')}
  --connections N,M (1,8,32; from poll-empty on: 8)
  --tenants N       of 100 people each (100)
  --notes N         (100000)
  --index-notes N   notes of the person whose index is walked (10000; 0 leaves index-10k out)
  --pool N          connections to the database, of the server and of the floor (10)
  --data DIR        keep the seeded database there, and use it again
  --server-only     leave the floor out, e.g. to profile
  --profile DIR     write a CPU profile of the server and the statements of PostgreSQL there, for each operation
  --node OPTIONS    of the server's process, e.g. '--node=--max-semi-space-size=8'
`;

const { values } = parseArgs({
  options: {
    duration: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(OPERATIONS).join(',') },
    connections: { type: 'string' },
    tenants: { type: 'string' },
    notes: { type: 'string' },
    'index-notes': { type: 'string' },
    pool: { type: 'string', default: '10' },
    data: { type: 'string' },
    'server-only': { type: 'boolean', default: false },
    profile: { type: 'string' },
    node: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

const CONNECTIONS = [1, 8, 32];

const options = {
  duration: Number(values.duration ?? (values.quick ? 1 : 5)) * 1000,
  warmUp: values.quick ? 500 : 1_000,
  tenants: Number(values.tenants ?? (values.quick ? 10 : 100)),
  notes: Number(values.notes ?? (values.quick ? 10_000 : 100_000)),
  largeIndex: Number(values['index-notes'] ?? (values.quick ? 1_000 : 10_000)),
  pool: Number(values.pool),
  operations: values.only.split(',').filter((name) => name in OPERATIONS),
  connections: values.connections?.split(',').map(Number),
};

if (values.help) process.stdout.write(HELP);
else await main();

async function main() {
  const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-bench-'));
  const dataDir = path.resolve(values.data ?? path.join(temporary, 'data'));
  const cleanUp = [];
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => abort.abort(new Error('interrupted')));
  try {
    process.exitCode = await bench(dataDir, temporary, (step) => cleanUp.push(step), abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    process.exitCode = 130;
  } finally {
    for (const step of cleanUp.toReversed()) await step();
  }
}

async function bench(dataDir, temporary, onEnd, signal) {
  const say = (text) => process.stderr.write(`${text}\n`);
  const database = await EmbeddedDatabase.open({
    dataDir,
    role: 'server',
    log: { info: () => undefined, warn: say, error: say },
    settings: values.profile ? COUNTED : {},
  });
  onEnd(() => database.close());
  signal.throwIfAborted();
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
  const began = Date.now();
  await migrateDatabase(config, database.url);
  const { tenants, notes, largeIndex } = options;
  const { callers, large } = await seed(config, { tenants, notes, largeIndex, dataDir, signal });
  say(`${tenants} tenants, ${notes} notes, ready after ${Math.round((Date.now() - began) / 1000)} s`);
  const callersFile = path.join(temporary, 'callers.json');
  writeFileSync(callersFile, JSON.stringify(callers));

  const admin = new pg.Client(database.url);
  await admin.connect();
  onEnd(() => admin.end());
  const profiles = values.profile && (await OperationProfiles.prepare(values.profile, admin));
  const nodeOptions = [...values.node.split(' ').filter(Boolean), ...(profiles?.nodeOptions ?? [])];
  const server = await startServer(database.url, options.pool, nodeOptions, WITHOUT_MAILBOXES);
  onEnd(() => server.stop());
  const floor = values['server-only'] ? undefined : await startFloor(database.url, options.pool);
  if (floor) onEnd(() => floor.stop());
  const load = new Load(callersFile);
  onEnd(() => load.stop());
  await load.run({ type: 'greet', port: server.port });
  if (floor) await compare(server, floor, comparable(callers[0]));

  const run = { server, floor, load, admin, signal, profiles };
  const results = [];
  process.stdout.write(`${heading()}\n`);
  for (const operation of options.operations) {
    if (operation === 'index-10k' && !large) continue;
    const counts = options.connections ?? OPERATIONS[operation].connections ?? CONNECTIONS;
    const fixtures = await setUp(server, operation, { callers, large, connections: Math.max(...counts) });
    if (floor && OPERATIONS[operation].comparable) await compare(server, floor, { [operation]: fixtures[0] });
    await forgetEvents(admin);
    const trips = await tripsPerRequest(server, operation, { callers, fixtures });
    for (const connections of counts) {
      const result = await measure(run, { operation, connections, fixtures }, trips);
      if (operation === 'index-10k') result.walk = { notes: large.count, requests: fixtures.length };
      results.push(result);
      process.stdout.write(`${line(row(result))}\n`);
    }
  }
  process.stdout.write(`\n${bars(results).join('\n')}\n\n${markdown(results)}\n`);
  return failures(results);
}

/** Fails unless both return the same, so that their speeds can be compared. Only the server signs cursors. */
async function compare(server, floor, requests) {
  for (const [name, request] of Object.entries(requests)) {
    const [left, right] = await Promise.all([server, floor].map(({ port }) => bodyOf(port, request)));
    if (left !== right)
      throw new Error(`server and floor differ in ${name}:\n${left.slice(0, 500)}\n${right.slice(0, 500)}`);
  }
}

async function bodyOf(port, request) {
  const connection = await Connection.open(port);
  const { status, body } = await connection.exchange(request);
  connection.close();
  return `${status} ${body.replace(/"(next|cursor|changes_cursor|server_time)":"[^"]*"/g, '"$1":""')}`;
}

/** Server, floor, floor, server: the drift of a busy machine cancels out. */
async function measure(run, order, trips) {
  const targets = run.floor ? ['server', 'floor', 'floor', 'server'] : ['server'];
  const legs = { server: [], floor: [] };
  for (const target of targets) {
    const duration = options.duration / (run.floor ? 2 : 1);
    legs[target].push(await leg(run, target, { ...order, warmUp: options.warmUp, duration }));
  }
  const server = { ...sum(legs.server), trips };
  const { operation, connections } = order;
  return { operation, connections, server, floor: sum(legs.floor) };
}

async function leg({ server, floor, load, admin, signal, profiles }, target, order) {
  signal.throwIfAborted();
  const measured = target === 'server' ? server : floor;
  if (target === 'floor') server.pause();
  await forgetEvents(admin);
  const cpu = {};
  if (target === 'server') server.forgetPeak();
  const result = await load.run({ ...order, port: measured.port }, (moment) => {
    if (target === 'server' && moment === 'measuring') profiles?.start();
    cpu[moment] = measured.cpu;
  });
  const memory = measured.peakMemory;
  if (target === 'floor') server.resume();
  else await profiles?.stop(`${order.operation}-${order.connections}`, result.requests);
  return { ...result, cpu: cpu.measured - cpu.measuring, memory };
}

/** Deletes the pending events, so that their delivery does not count in the next measurement. */
async function forgetEvents(admin) {
  await admin.query('DELETE FROM outbox');
}

function sum(legs) {
  const total = (pick) => legs.reduce((result, one) => result + pick(one), 0);
  const requests = total((one) => one.requests);
  const mean = (pick) => total((one) => pick(one) * one.requests) / requests;
  return {
    rate: requests / total((one) => one.seconds),
    p50: mean((one) => one.p50),
    p99: mean((one) => one.p99),
    cpu: total((one) => one.cpu) / requests,
    memory: Math.max(...legs.map((one) => one.memory)),
    unexpected: legs.map((one) => one.unexpected).filter((statuses) => Object.keys(statuses).length > 0),
  };
}

function failures(results) {
  const failed = results.flatMap(({ operation, connections, server, floor }) =>
    [...server.unexpected, ...floor.unexpected].map(
      (statuses) => `${operation}, ${connections} connections: ${JSON.stringify(statuses)}`,
    ),
  );
  for (const text of failed) process.stderr.write(`unexpected responses: ${text}\n`);
  return failed.length > 0 ? 1 : 0;
}
