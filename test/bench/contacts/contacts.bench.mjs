/**
 * Contacts against their floor: a page, a search, a poll of the feed, creation and update, in a workspace with 100,000 contacts
 * in books of 10,000. `npm run build`, then `node test/bench/contacts/contacts.bench.mjs` (`--books N`, `--contacts N`, `--seconds S`,
 * `--connections N`, `--only poll`). Server and floor take turns; the ratios count.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { contactInsert, newContactCard } from '../../../dist/modules/contacts/model/contact-values.js';
import { ContactsRepository } from '../../../dist/modules/contacts/contacts.repository.js';
import { Connection } from '../support/connection.mjs';
import { startScript } from '../support/processes.mjs';
import { takeTurns } from '../support/turns.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    books: { type: 'string', default: '10' },
    contacts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
  },
});
const BATCH = 500;
const GIVEN = 'Maria,José,Anna,Ivo,Zdeněk,Li,Amina,Olu,Yuki,Sven'.split(',');
const FAMILY = 'Silva,Novák,Martin,Okafor,Nguyen,Ångström,Fierro,Tanaka,Haddad,Lee'.split(',');

const fields = (n) => ({
  name: { given: GIVEN[n % 10], family: `${FAMILY[Math.floor(n / 10) % 10]}${n % 997}` },
  organization: { name: `Company ${n % 300}` },
  emails: [{ value: `person${n}@company${n % 300}.example`, types: ['work'] }],
  phones: [{ value: `+420601${String(n % 1_000_000).padStart(6, '0')}`, types: ['cell'] }],
  notes: 'Met at the fair, asked for the price list and a visit in spring.',
});

await withWorkspace('contacts', async ({ databaseUrl, pool, owner, server, stopAtEnd }) => {
  const books = await seed(databaseUrl, { tenantId: owner.tenant_id, userId: owner.id });
  const application = await server();
  const settings = { DATABASE_URL: databaseUrl, DATABASE_POOL_MAX: String(pool) };
  const floor = stopAtEnd(
    await startScript('the floor', new URL('contacts-floor.mjs', import.meta.url), settings),
  );
  const head = `Host: bench\r\nAuthorization: Bearer ${owner.token}\r\nX-Tenant: ${owner.tenant_id}\r\nX-User: ${owner.id}\r\n`;
  const operations = operationsOn(books, await cursorsOf(application.port, head, books), head);
  let read;
  for (const [name, request] of Object.entries(operations)) {
    if (name !== 'read' && !name.includes(options.only)) continue;
    const load = { connections: Number(options.connections), seconds: Number(options.seconds) };
    const legs = await takeTurns({ server: application, floor, databaseUrl, request, ...load });
    read ??= legs.server;
    report(name, legs, read);
  }
  print(`peak memory ${application.peakMemory.toFixed(0)} MB`);
});

/** @returns ids of the books and external_ids of their contacts */
async function seed(databaseUrl, ctx) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const db = { query: async ({ text }, values) => (await client.query(text, values)).rows };
  const contacts = new ContactsRepository(db);
  const began = performance.now();
  const books = [];
  for (let book = 0; book < Number(options.books); book += 1) {
    const id = uuidv7();
    await client.query(
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
  const seconds = (performance.now() - began) / 1000;
  print(`${count} contacts, ${Math.round(count / seconds)} inserted a second`);
  await client.query('VACUUM (ANALYZE)');
  await client.end();
  return books;
}

function get(target, head) {
  return `GET /apis/v1/contact/addressbooks/${target} HTTP/1.1\r\n${head}\r\n`;
}

function send(method, target, head, body) {
  const json = JSON.stringify(body);
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
  return `${method} /apis/v1/contact/addressbooks/${target} HTTP/1.1\r\n${head}${type}\r\n${json}`;
}

/** @returns the end of the feed of each book: `{ cursor, after }`, for the server and for the floor */
async function cursorsOf(port, head, books) {
  const connection = await Connection.open(port);
  const cursors = new Map();
  for (const { id } of books) {
    for (let query = '?limit=500'; !cursors.has(id);) {
      const { body } = await connection.exchange(get(`${id}/contacts/sync${query}`, head));
      const page = JSON.parse(body);
      query = `?limit=500&cursor=${page.cursor}`;
      if (!page.has_more) cursors.set(id, { cursor: page.cursor, after: page.head });
    }
  }
  connection.close();
  return cursors;
}

/** Requests by name. The floor normalises nothing: it receives cards in their stored form. */
function operationsOn(books, cursors, head) {
  const bookOf = (n) => books[n % books.length];
  const contactOf = (n) => {
    const { id, names } = bookOf(n);
    return `${id}/contacts/${names[(n * 7919) % names.length]}`;
  };
  const list = (n, query = '') => get(`${bookOf(n).id}/contacts${query}`, head);
  const create = (n, turn) => {
    const input = fields(1_000_000 + n);
    const body = turn === 'server' ? input : newContactCard(input, null);
    return send('POST', `${bookOf(n).id}/contacts`, head, body);
  };
  return {
    read: (n) => get(contactOf(n), head),
    'page of 50': (n) => list(n),
    'search, rare word': (n) => list(n, `?q=person${n % 10_000}`),
    'search, two words': (n) => list(n, `?q=mar%20silva${n % 997}`),
    'search, one letter': (n) => list(n, '?q=m'),
    'empty poll': (n, turn) => {
      const { cursor, after } = cursors.get(bookOf(n).id);
      const query = turn === 'server' ? `cursor=${cursor}` : `after=${after}`;
      return get(`${bookOf(n).id}/contacts/sync?${query}`, head);
    },
    update: (n) => send('PUT', contactOf(n), head, { job_title: `Title ${n}` }),
    create,
  };
}

function report(name, { server, floor }, read) {
  const share = (one, other) => `${((100 * one) / other).toFixed(0).padStart(4)} %`;
  const processor = server.cpu + server.databaseCpu;
  const figures = [
    `${share(server.rate, floor.rate)} of the floor`,
    `${share(floor.cpu + floor.databaseCpu, processor)} by processor time`,
    `${server.rate.toFixed(0).padStart(6)}/s`,
    `p50 ${server.p50.toFixed(2)} ms`,
    `${(server.p50 / read.p50).toFixed(2)} reads, ${(processor / (read.cpu + read.databaseCpu)).toFixed(2)} by processor time`,
    `server ${server.cpu.toFixed(0)}+${server.databaseCpu.toFixed(0)} us, floor ${floor.cpu.toFixed(0)}+${floor.databaseCpu.toFixed(0)} us`,
  ];
  print(`${name.padEnd(20)} ${figures.join('   ')}`);
}
