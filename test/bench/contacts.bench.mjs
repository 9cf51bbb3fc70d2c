/**
 * Contacts against their floor: a page, a search, a poll of the feed, creation and update, in a workspace with 100,000 contacts
 * in books of 10,000. `npm run build`, then `node test/bench/contacts.bench.mjs` (`--books N`, `--contacts N`, `--seconds S`).
 * Server and floor take turns; the figures that count are the ratios.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { migrateDatabase } from '../../dist/app.prepare.js';
import { withApp } from '../../dist/cli/context.js';
import { Config } from '../../dist/config/config.js';
import { newContactCard } from '../../dist/modules/contacts/model/contact-values.js';
import { contactInsert } from '../../dist/modules/contacts/model/contact-values.js';
import { ContactsRepository } from '../../dist/modules/contacts/contacts.repository.js';
import { EmbeddedDatabase } from '../../dist/platform/database/embedded/embedded-database.js';
import { provision } from '../../dist/provision/provision.js';
import { Connection } from './connection.mjs';
import { startScript, startServer } from './processes.mjs';

const { values: options } = parseArgs({
  options: {
    books: { type: 'string', default: '10' },
    contacts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
  },
});
const POOL = 10;
const BATCH = 500;
const GIVEN = ['Maria', 'José', 'Anna', 'Ivo', 'Zdeněk', 'Li', 'Amina', 'Olu', 'Yuki', 'Sven'];
const FAMILY = [
  'Silva',
  'Novák',
  'Martin',
  'Okafor',
  'Nguyen',
  'Ångström',
  'Fierro',
  'Tanaka',
  'Haddad',
  'Lee',
];

const fields = (n) => ({
  name: { given: GIVEN[n % 10], family: `${FAMILY[Math.floor(n / 10) % 10]}${n % 997}` },
  organization: { name: `Company ${n % 300}` },
  emails: [{ value: `person${n}@company${n % 300}.example`, types: ['work'] }],
  phones: [{ value: `+420601${String(n % 1_000_000).padStart(6, '0')}`, types: ['cell'] }],
  notes: 'Met at the fair, asked for the price list and a visit in spring.',
});

const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-contacts-bench-'));
const say = (text) => process.stdout.write(`${text}\n`);
const database = await EmbeddedDatabase.open({
  dataDir: temporary,
  role: 'server',
  log: { info: () => undefined, warn: say, error: say },
});
const stops = [];
try {
  await main();
} finally {
  for (const stop of stops) await stop();
  await database.close();
  rmSync(temporary, { recursive: true, force: true });
}

async function main() {
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', DEMO: 'false' });
  await migrateDatabase(config, database.url);
  const user = { email: 'ann@bench.example', name: 'Ann', role: 'owner' };
  const { users } = await withApp(config, (app) =>
    provision(app, { tenants: [{ slug: 'bench', users: [user] }] }, true),
  );
  const [{ id: userId, tenant_id: tenantId, token }] = users;
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const books = await seed(pool, { tenantId, userId });
  await pool.query('VACUUM (ANALYZE)');
  await pool.end();
  const server = await startServer(database.url, POOL, [], { DATA_DIR: temporary });
  stops.push(() => server.stop());
  const settings = { DATABASE_URL: database.url, DATABASE_POOL_MAX: String(POOL) };
  const floor = await startScript('the floor', 'contacts-floor.mjs', settings);
  stops.push(() => floor.stop());
  await compareAll({ server, floor, books, caller: { tenantId, userId, token } });
}

/** @returns ids of the books and external_ids of their contacts */
async function seed(pool, ctx) {
  const db = { query: async ({ text }, values) => (await pool.query(text, values)).rows };
  const contacts = new ContactsRepository(db);
  const began = performance.now();
  const books = [];
  for (let book = 0; book < Number(options.books); book += 1) {
    const id = uuidv7();
    await pool.query(
      `INSERT INTO addressbooks (tenant_id, id, owner_id, kind, name) VALUES ($1, $2, $3, 'personal', 'Book')`,
      [ctx.tenantId, id, ctx.userId],
    );
    const names = [];
    for (let at = 0; at < Number(options.contacts); at += BATCH) {
      const items = Array.from({ length: BATCH }, (_, n) =>
        contactInsert(newContactCard(fields(at + n), null)),
      );
      const rows = await contacts.insert(db, ctx, id, items);
      names.push(...rows.map((row) => row.external_id));
    }
    books.push({ id, names });
  }
  const count = books.reduce((sum, { names }) => sum + names.length, 0);
  say(`${count} contacts, ${Math.round(count / ((performance.now() - began) / 1000))} inserted a second`);
  return books;
}

async function compareAll({ server, floor, books, caller }) {
  const { tenantId, userId, token } = caller;
  const head = `Host: bench\r\nAuthorization: Bearer ${token}\r\nX-Tenant: ${tenantId}\r\nX-User: ${userId}\r\n`;
  const get = (target) => `GET /apis/v1/contact/addressbooks/${target} HTTP/1.1\r\n${head}\r\n`;
  const send = (method, target, body) => {
    const json = JSON.stringify(body);
    const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
    return `${method} /apis/v1/contact/addressbooks/${target} HTTP/1.1\r\n${head}${type}\r\n${json}`;
  };
  const connection = await Connection.open(server.port);
  const cursors = new Map();
  for (const { id } of books) {
    let query = '?limit=500';
    for (;;) {
      const { body } = await connection.exchange(get(`${id}/contacts/sync${query}`));
      const page = JSON.parse(body);
      query = `?limit=500&cursor=${page.cursor}`;
      if (page.has_more) continue;
      cursors.set(id, { cursor: page.cursor, after: page.head });
      break;
    }
  }
  connection.close();
  let counter = 0;
  const next = () => (counter += 1);
  const bookOf = (n) => books[n % books.length];
  const nameOf = (n) => bookOf(n).names[(n * 7919) % bookOf(n).names.length];
  const operations = {
    read: (n) => get(`${bookOf(n).id}/contacts/${nameOf(n)}`),
    'page of 50': (n) => get(`${bookOf(n).id}/contacts`),
    'search, rare word': (n) => get(`${bookOf(n).id}/contacts?q=person${n % 10_000}`),
    'search, two words': (n) => get(`${bookOf(n).id}/contacts?q=mar%20silva${n % 997}`),
    'search, one letter': (n) => get(`${bookOf(n).id}/contacts?q=m`),
    'empty poll': (n) => {
      const { cursor, after } = cursors.get(bookOf(n).id);
      return get(`${bookOf(n).id}/contacts/sync?cursor=${cursor}&after=${after}`);
    },
    update: (n) => send('PUT', `${bookOf(n).id}/contacts/${nameOf(n)}`, { job_title: `Title ${n}` }),
    create: (n) => send('POST', `${bookOf(n).id}/contacts`, fields(1_000_000 + n)),
  };
  let read;
  for (const [name, request] of Object.entries(operations)) {
    const legs = { server: [], floor: [] };
    for (const turn of ['server', 'floor', 'floor', 'server']) {
      const [active, idle] = turn === 'server' ? [server, floor] : [floor, server];
      idle.pause();
      active.resume();
      legs[turn].push(await leg(active.port, () => request(next())));
      idle.resume();
    }
    const mean = (turn, key) => (legs[turn][0][key] + legs[turn][1][key]) / 2;
    if (name === 'read') read = mean('server', 'p50');
    const share = (mean('server', 'rate') / mean('floor', 'rate')) * 100;
    const figures = [
      `${share.toFixed(0).padStart(4)} % of the floor`,
      `${mean('server', 'rate').toFixed(0).padStart(6)}/s`,
      `p50 ${mean('server', 'p50').toFixed(2)} ms`,
      `${(mean('server', 'p50') / read).toFixed(2)} reads`,
    ];
    say(`${name.padEnd(20)} ${figures.join('   ')}`);
  }
}

/** Closed-loop connections for some seconds. @returns requests a second and the median time, milliseconds */
async function leg(port, request) {
  const end = performance.now() + Number(options.seconds) * 1000;
  const times = [];
  const loop = async () => {
    const connection = await Connection.open(port);
    while (performance.now() < end) {
      const text = request();
      const began = performance.now();
      const { status, body } = await connection.exchange(text);
      if (status !== 200 && status !== 201) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - began);
    }
    connection.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Number(options.connections) }, loop));
  const seconds = (performance.now() - began) / 1000;
  return { rate: times.length / seconds, p50: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] };
}
