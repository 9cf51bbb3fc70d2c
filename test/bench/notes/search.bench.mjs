// `node test/bench/notes/search.bench.mjs`: search among 50,000 notes against reading one, and the cost of indexing for writers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { NoteIndexer } from '../../../dist/modules/notes/search/notes-search.controller.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { Connection } from '../support/connection.mjs';
import { introduce, OPERATIONS } from './operations/operations.mjs';
import { startServer } from '../support/processes.mjs';
import { seed } from './seed.mjs';

const { values } = parseArgs({
  options: {
    notes: { type: 'string', default: '50000' },
    tenants: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '5' },
    data: { type: 'string' },
    only: { type: 'string', default: 'searches,writes' },
  },
});
const ROUNDS = Number(values.rounds);
const LEG_MS = Number(values.seconds) * 1000;
/** The bar: the median search takes no longer than so many reads of a note. */
const BAR = 3;

// Of the vocabulary of the seeded texts: every note has a frequent word, few have the number of their title.
const QUERIES = {
  'a frequent word': () => 'project',
  'a rare word': (n) => `coöperate ${n % 1000}`,
  'two words': () => 'budget meeting',
  'a beginning': () => 'mig',
  'Japanese, two characters': () => '東京',
  'no match': () => 'xylophone',
};

const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-search-bench-'));
const say = (text) => process.stderr.write(`${text}\n`);
const database = await EmbeddedDatabase.open({
  dataDir: path.resolve(values.data ?? temporary),
  role: 'server',
  log: { info: () => undefined, warn: say, error: say },
});
try {
  await main(Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', DEMO: 'false' }));
} finally {
  await database.close();
  rmSync(temporary, { recursive: true, force: true });
}

async function main(config) {
  await migrateDatabase(config, config.DATABASE_URL);
  const tenants = Number(values.tenants);
  const { callers } = await seed(config, {
    tenants,
    notes: Number(values.notes),
    dataDir: path.resolve(values.data ?? temporary),
  });
  const admin = new pg.Client(config.DATABASE_URL);
  await admin.connect();
  try {
    await index(config, admin);
    if (values.only.includes('searches')) await searches(callers);
    if (values.only.includes('writes')) await writes(callers, admin);
  } finally {
    await admin.end();
  }
}

async function index(config, admin) {
  const count = async () => Number((await admin.query('SELECT count(*) FROM note_search')).rows[0].count);
  const before = await count();
  const began = performance.now();
  await withApp(config, async (app) => {
    const indexer = app.get(NoteIndexer, { strict: false });
    while (!(await indexer.repair()));
  });
  const made = (await count()) - before;
  const seconds = (performance.now() - began) / 1000;
  await admin.query('VACUUM (ANALYZE) note_search');
  const sizes = await admin.query(
    `SELECT pg_size_pretty(pg_relation_size('note_search_words')) AS words, pg_size_pretty(pg_total_relation_size('note_search')) AS whole`,
  );
  say(`${made} notes indexed in ${seconds.toFixed(0)} s: ${(made / seconds).toFixed(0)}/s`);
  say(`GIN index ${sizes.rows[0].words}, with words and table ${sizes.rows[0].whole}`);
}

/** Sends one read and one search of each kind in turn, so that other load of the machine affects all of them. */
async function searches(callers) {
  const server = await startServer(database.url, 10);
  const connection = await Connection.open(server.port);
  const times = new Map();
  const timed = async (name, request) => {
    const began = performance.now();
    const { status, body } = await connection.exchange(request);
    const took = performance.now() - began;
    if (status !== 200) throw new Error(`${name}: ${status} ${body.slice(0, 300)}`);
    const entry = times.get(name) ?? { took: [], hits: 0 };
    entry.took.push(took);
    entry.hits += JSON.parse(body).notes?.length ?? 0;
    times.set(name, entry);
  };
  try {
    for (const caller of callers) await connection.exchange(introduce(caller));
    for (let n = -50; n < ROUNDS; n += 1) {
      if (n === 0) times.clear();
      const caller = callers[(n + 50) % callers.length];
      const get = (target) =>
        `GET /apis/v1/${target} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${caller.token}\r\n\r\n`;
      await timed('read', get(`notes/${caller.notes[(n + 50) % caller.notes.length]}`));
      await timed('list, 20 a page', get('notes?limit=20'));
      for (const [name, words] of Object.entries(QUERIES)) {
        const q = encodeURIComponent(words(n));
        await timed(name, get(`search/notes?q=${q}&limit=20`));
        if (name === 'a frequent word') await timed(`${name}, 50 a page`, get(`search/notes?q=${q}`));
      }
    }
  } finally {
    connection.close();
    await server.stop();
  }
  const p50 = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
  const read = p50(times.get('read').took);
  const all = Object.keys(QUERIES).flatMap((name) => times.get(name).took);
  for (const [name, { took, hits }] of times)
    say(
      `${name.padEnd(28)} p50 ${p50(took).toFixed(2)} ms, ${(p50(took) / read).toFixed(2)} reads, ${(hits / took.length).toFixed(1)} hits`,
    );
  const ratio = p50(all) / read;
  say(
    `${ratio <= BAR ? 'met   ' : 'MISSED'}  median of all searches within ${BAR} reads: ${ratio.toFixed(2)}`,
  );
}

/** Measures with indexing, without, without and with, so that a drift of the machine cancels out. */
async function writes(callers, admin) {
  for (const [what, connections] of [
    ['update', 1],
    ['update', 8],
    ['create', 1],
    ['create', 8],
  ]) {
    const legs = { with: [], without: [] };
    for (const kind of ['with', 'without', 'without', 'with'])
      legs[kind].push(await leg(kind, what, connections, callers, admin));
    const sum = (list, key) => list.reduce((total, result) => total + result[key], 0);
    const rate = sum(legs.with, 'count') / sum(legs.without, 'count');
    const p50 = sum(legs.with, 'p50') / sum(legs.without, 'p50');
    say(
      `${what}, ${connections} connections: ${rate.toFixed(3)} of the writes per second without indexing, p50 ${p50.toFixed(3)} of it; ` +
        `${sum(legs.with, 'left')} events left at the end`,
    );
  }
}

async function leg(kind, what, connections, callers, admin) {
  await admin.query('DELETE FROM outbox');
  const preload = fileURLToPath(new URL('without-indexing.mjs', import.meta.url));
  const server = await startServer(database.url, 10, kind === 'without' ? ['--import', preload] : []);
  const took = [];
  try {
    const end = performance.now() + LEG_MS + 1_000;
    const warm = end - LEG_MS;
    const write = async () => {
      const connection = await Connection.open(server.port);
      const exchange = async (request, status) => {
        const response = await connection.exchange(request);
        if (response.status !== status) throw new Error(`${response.status} ${response.body.slice(0, 300)}`);
        return { json: JSON.parse(response.body) };
      };
      const { prepare, expects } = OPERATIONS[what];
      const next = await prepare(callers, exchange);
      while (performance.now() < end) {
        const began = performance.now();
        await exchange(next(), expects);
        if (began > warm) took.push(performance.now() - began);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, write));
  } finally {
    await server.stop();
  }
  const { rows } = await admin.query('SELECT count(*)::int AS left FROM outbox');
  return { count: took.length, p50: took.toSorted((a, b) => a - b)[took.length >> 1], left: rows[0].left };
}
