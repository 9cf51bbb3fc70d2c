// `node test/bench/notes/minimal.bench.mjs`: the built server against a minimal server with the same operations (README.md, "Minimal floor").
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { databaseCpu, Load, startScript, startServer, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { Baseline } from '../support/baseline.mjs';
import { COUNTED, OperationProfiles } from '../support/operation-profile.mjs';
import { startParse } from './peer/parse.mjs';
import { fixed, median, percent } from '../support/report.mjs';
import { seed } from './seed.mjs';

const { values } = parseArgs({
  options: {
    content: { type: 'string', default: '1000' },
    notes: { type: 'string', default: '70000' },
    duration: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'read,list,poll,update,create' },
    connections: { type: 'string', default: '8' },
    peer: { type: 'string' },
    // Keeps the seeded database there for the next run.
    data: { type: 'string' },
    tenants: { type: 'string', default: '100' },
    // Writes the profile of each operation there.
    profile: { type: 'string' },
    // Stores the ratios of this run in minimal/baseline.json.
    record: { type: 'boolean', default: false },
  },
});

/** The least share of the better mode of the minimal floor. */
const BARS = { read: 0.5, list: 0.5, poll: 0.6, update: 0.4, create: 0.4 };
/** How many times the rate of Parse Server the rate must be. */
const PEER_BARS = { read: 3, list: 2.5, poll: 3, update: 4, create: 3 };
const TOKEN_KEY = 'bench';
const POOL = '10';
const WARM_UP_MS = 1_000;

/** Of the processor time of the server, with PostgreSQL, to that of the better mode. */
const baseline = new Baseline(
  new URL('minimal/baseline.json', import.meta.url),
  `${values.content} bytes, ${values.connections} connections`,
);

const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-minimal-'));
const dataDir = path.resolve(values.data ?? path.join(temporary, 'data'));
const cleanUp = [];
try {
  await bench();
} finally {
  for (const step of cleanUp.toReversed()) await step();
  rmSync(temporary, { recursive: true, force: true });
}

async function bench() {
  const bytes = Number(values.content);
  // Read by the requests of this process and of the load generators.
  process.env.BENCH_CONTENT_BYTES = String(bytes);
  const url = await database();
  const config = Config.parse({ DATABASE_URL: url, LOG_LEVEL: 'warn' });
  const tenants = Number(values.tenants);
  const data = { tenants, notes: Number(values.notes), largeIndex: 0, bytes, dataDir };
  const { callers } = await seed(config, data);
  const admin = new pg.Client(url);
  // The database stops before this client when a step fails.
  admin.on('error', () => undefined);
  await admin.connect();
  cleanUp.push(() => admin.end());
  await admin.query(readFileSync(new URL('minimal/schema.sql', import.meta.url), 'utf8'));
  await admin.query('VACUUM (ANALYZE)');
  await admin.query('CHECKPOINT');

  const profiles = values.profile && (await OperationProfiles.prepare(values.profile, admin));
  const server = await startServer(url, POOL, profiles?.nodeOptions, WITHOUT_MAILBOXES);
  cleanUp.push(() => server.stop());
  const targets = [
    { name: 'server', operations: 'minimal', listener: server, profiles, load: loadOf('server', callers) },
  ];
  for (const mode of ['objects', 'json']) {
    const settings = { DATABASE_URL: url, DATABASE_POOL_MAX: POOL, MODE: mode, TOKEN_KEY };
    const listener = await startScript(
      `the minimal floor (${mode})`,
      new URL('minimal/server.mjs', import.meta.url),
      settings,
    );
    cleanUp.push(() => listener.stop());
    const load = loadOf(mode, callers.map(withMinimalToken));
    targets.push({ name: mode, operations: 'minimal', listener, load });
  }
  if (values.peer === 'parse') {
    const peer = await startParse(url, POOL, callers);
    cleanUp.push(() => peer.listener.stop());
    const load = loadOf('parse', peer.callers);
    targets.push({ name: 'parse', operations: 'parse', listener: peer.listener, load });
  }
  await targets[0].load.run({ type: 'greet', port: server.port });
  process.stdout.write(
    `notes of ${bytes} bytes, ${values.connections} connections, ${values.rounds} rounds\n\n`,
  );
  process.stdout.write(
    '| operation | server req/s | minimal (objects, json) | share | bar | CPU us | minimal | with PostgreSQL | minimal | p99/p50 | Parse req/s, us | times | bar | of the baseline |\n',
  );
  process.stdout.write(`|${' --- |'.repeat(14)}\n`);
  for (const operation of values.only.split(',')) await compare(operation, targets, { admin, url });
}

async function database() {
  const say = (text) => process.stderr.write(`${text}\n`);
  const log = { info: () => undefined, warn: say, error: say };
  const opened = await EmbeddedDatabase.open({
    dataDir,
    role: 'server',
    log,
    settings: values.profile ? COUNTED : {},
  });
  cleanUp.push(() => opened.close());
  await migrateDatabase(Config.parse({ DATABASE_URL: opened.url, LOG_LEVEL: 'warn' }), opened.url);
  return opened.url;
}

function loadOf(name, callers) {
  const file = path.join(temporary, `callers-${name}.json`);
  writeFileSync(file, JSON.stringify(callers));
  const load = new Load(file);
  cleanUp.push(() => load.stop());
  return load;
}

function withMinimalToken(caller) {
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.round(Date.now() / 1000) + 86_400;
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ tenant: caller.tenant, user: caller.user, exp })}`;
  return {
    ...caller,
    token: `${signed}.${createHmac('sha256', TOKEN_KEY).update(signed).digest('base64url')}`,
  };
}

/** Takes turns between the targets, then prints the medians. */
async function compare(operation, targets, database) {
  const rounds = Object.fromEntries(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const order = round % 2 === 0 ? targets : targets.toReversed();
    for (const target of order) rounds[target.name].push(await measure(operation, target, targets, database));
  }
  const [server, objects, json, peer] = targets.map(({ name }) => medians(rounds[name]));
  const best = json.rate > objects.rate ? json : objects;
  const share = server.rate / best.rate;
  const cells = [
    operation,
    fixed(server.rate),
    `${fixed(objects.rate)}, ${fixed(json.rate)}`,
    percent(share),
    `${percent(BARS[operation])} ${share >= BARS[operation] ? 'met' : 'MISSED'}`,
    fixed(server.cpu * 1e6),
    fixed(best.cpu * 1e6),
    fixed(server.total * 1e6),
    fixed(best.total * 1e6),
    fixed(server.p99 / server.p50, 1),
    ...(peer ? peerCells(operation, server.rate / peer.rate, peer) : ['-', '-', '-']),
    baseline.compared(operation, server.total / best.total),
  ];
  if (values.record) baseline.record(operation, server.total / best.total);
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function peerCells(operation, times, { rate, total }) {
  const bar = PEER_BARS[operation];
  return [
    `${fixed(rate)}, ${fixed(total * 1e6)}`,
    fixed(times, 1),
    `${bar} ${times >= bar ? 'met' : 'MISSED'}`,
  ];
}

async function measure(operation, { name, operations, listener, load, profiles }, targets, { admin, url }) {
  const others = targets.filter((target) => target.listener !== listener);
  for (const other of others) other.listener.pause();
  await admin.query('DELETE FROM outbox');
  const cpu = {};
  const sessions = {};
  const order = {
    operation: `${operations}-${operation}`,
    connections: Number(values.connections),
    fixtures: { isMinimal: name !== 'server' },
    warmUp: WARM_UP_MS,
    duration: Number(values.duration) * 1000,
    port: listener.port,
  };
  const result = await load.run(order, (moment) => {
    if (moment === 'measuring') profiles?.start();
    cpu[moment] = listener.cpu;
    sessions[moment] = databaseCpu(url);
  });
  await profiles?.stop(operation, result.requests);
  for (const other of others) other.listener.resume();
  if (Object.keys(result.unexpected).length > 0)
    throw new Error(`${name}, ${operation}: unexpected statuses ${JSON.stringify(result.unexpected)}`);
  const own = (cpu.measured - cpu.measuring) / result.requests;
  return {
    rate: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    cpu: own,
    total: own + ((await sessions.measured) - (await sessions.measuring)) / result.requests,
  };
}

function medians(rounds) {
  const of = (pick) => median(rounds.map(pick));
  return {
    rate: of((round) => round.rate),
    p50: of((round) => round.p50),
    p99: of((round) => round.p99),
    cpu: of((round) => round.cpu),
    total: of((round) => round.total),
  };
}
