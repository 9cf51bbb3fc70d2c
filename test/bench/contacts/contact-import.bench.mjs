/**
 * `npm run build`, then `node test/bench/contacts/contact-import.bench.mjs`: 10,000 cards by POST /contact/phone-sync/import, against a
 * floor in this process that parses the same file with the same library and inserts the cards into one plain table, 250 in
 * a statement; and by how much the server's memory grows meanwhile.
 */
import pg from 'pg';
import { newCard, readCards, writeCard } from '../../../dist/lib/vcard/index.js';
import { databaseCpu } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const CARDS = 10_000;
const ROUNDS = 3;
const BATCH = 250;
/** Requests before the first import, and how many are sent at once. */
const REQUESTS = 2_000;
const USERS = 8;
/** The bar: memory may grow by so many MB. */
const BAR_MB = 60;

const rate = (ms) => Math.round((1000 * CARDS) / ms);
await withWorkspace('import', async ({ databaseUrl, owner, server }) => {
  const listener = await server();
  const base = `http://127.0.0.1:${listener.port}/apis/v1/contact`;
  const headers = { authorization: `Bearer ${owner.token}` };
  await ordinaryRequests(base, headers);
  for (let n = 0; n <= ROUNDS; n++) await round(listener, base, headers, n, databaseUrl);
});

/** The young generation of V8 grows with any load: the growth of the first import is not that of the first requests. */
async function ordinaryRequests(base, headers) {
  const json = { ...headers, 'content-type': 'application/json' };
  const { addressbook } = await bookOf(base, json, 'Ordinary');
  const contacts = `${base}/addressbooks/${addressbook.id}/contacts`;
  const user = async (of) => {
    for (let n = 0; n < REQUESTS / USERS; n += 1) {
      const body = JSON.stringify({ full_name: `Warm ${of} ${n}`, notes: 'x'.repeat(10_000) });
      const made = await fetch(contacts, { method: 'POST', headers: json, body });
      if (made.status !== 201) throw new Error(`${made.status} ${await made.text()}`);
      await made.text();
      await (await fetch(`${contacts}?limit=50`, { headers })).text();
    }
  };
  await Promise.all(Array.from({ length: USERS }, (_, of) => user(of)));
}

/** A new address book each time; the first round warms up the import. */
async function round(listener, base, headers, n, databaseUrl) {
  const json = { ...headers, 'content-type': 'application/json' };
  const { addressbook } = await bookOf(base, json, `Round ${n}`);
  const file = fileOf(n);
  const floor = await timed(() => floorImport(file, n, databaseUrl));
  listener.forgetPeak();
  const [processor, databaseBefore] = [listener.cpu, await databaseCpu(databaseUrl)];
  const before = listener.peakMemory;
  const url = `${base}/phone-sync/import?addressbook_id=${addressbook.id}&device_id=bench`;
  const send = async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/vcard' },
      body: file,
    });
    return (await response.json()).import;
  };
  let result;
  const first = await timed(async () => (result = await send()));
  const growth = listener.peakMemory - before;
  const each = (seconds) => Math.round((1e6 * seconds) / CARDS);
  const server = each(listener.cpu - processor);
  const database = each((await databaseCpu(databaseUrl)) - databaseBefore);
  const again = await timed(async () => (result = [result, await send()]));
  const [created, unchanged] = [result[0].created, result[1].unchanged];
  if (created !== CARDS || unchanged !== CARDS) throw new Error(JSON.stringify(result).slice(0, 500));
  print(
    `${n === 0 ? 'first import' : `import ${n + 1}`}: ${(file.length / 1e6).toFixed(1)} MB; floor ${rate(floor)}, import ${rate(first)} (${Math.round((100 * floor) / first)} %), again ${rate(again)} cards/s; processor time of a card ${server} us, of the database ${database} us; memory +${growth.toFixed(0)} MB (bar ${BAR_MB})`,
  );
}

async function bookOf(base, headers, name) {
  const body = JSON.stringify({ name, default_country: 'CZ' });
  return (await fetch(`${base}/addressbooks`, { method: 'POST', headers, body })).json();
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function fileOf(round) {
  const entry = { label: null, types: ['home'], primary: false };
  const cards = Array.from({ length: CARDS }, (_, n) =>
    newCard({
      full_name: `Jan Novák ${n}`,
      name: {
        prefix: null,
        given: 'Jan',
        middle: null,
        family: `Novák ${n}`,
        suffix: null,
        phonetic_given: null,
        phonetic_family: null,
      },
      organization: { name: `Company ${n % 100}`, units: [] },
      emails: [{ ...entry, value: `jan${n}@example.com` }],
      phones: [{ ...entry, value: `+420 601 ${String(100_000 + n)}`, extension: null }],
      notes: `Note ${round} of ${n} `.repeat(20),
      photo: n % 5 === 0 ? { media_type: 'image/jpeg', data: new Uint8Array(5000).fill(n % 251) } : null,
    }),
  );
  return Buffer.from(cards.map((card) => writeCard(card, { version: '3.0' })).join(''));
}

/** Reads the cards and inserts them, nothing else. */
async function floorImport(file, round, databaseUrl) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(
    `CREATE TABLE bench_cards_${round} (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), card jsonb NOT NULL)`,
  );
  const insert = `INSERT INTO bench_cards_${round} (card) SELECT value FROM jsonb_array_elements($1)`;
  let batch = [];
  for await (const result of readCards(chunks(file))) {
    const { photo: _, ...card } = result.card;
    batch.push(card);
    if (batch.length === BATCH) await client.query(insert, [JSON.stringify(batch.splice(0))]);
  }
  if (batch.length > 0) await client.query(insert, [JSON.stringify(batch)]);
  await client.end();
}

function* chunks(file) {
  for (let at = 0; at < file.length; at += 65_536) yield file.subarray(at, at + 65_536);
}
