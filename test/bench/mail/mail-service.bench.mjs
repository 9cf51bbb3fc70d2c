/**
 * What the mail service costs beside its floor: a page of 50 of a mailbox with 10,000 messages, and the creation of a draft;
 * and by how much its process grows over messages with 12 MiB attached.
 * `npm run build`, then `node test/bench/mail/mail-service.bench.mjs` (`--messages N`, `--seconds S`). Service and floor take
 * turns; the figures that count are the ratios.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import { NODE_FLAGS } from '../../../bin/lib/node-flags.mjs';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { Listener } from '../support/processes.mjs';

const { values: options } = parseArgs({
  options: { messages: { type: 'string', default: '10000' }, seconds: { type: 'string', default: '4' } },
});
const TOKEN = 'f'.repeat(64);
const local = (file) => fileURLToPath(new URL(file, import.meta.url));
const directory = mkdtempSync(path.join(tmpdir(), 'mail-bench-'));
const children = [];

async function started(file, args, env, order, execArgv = []) {
  const child = fork(local(file), args, { env, execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  if (order) child.send(order);
  const [report] = await once(child, 'message');
  if (!report.port) throw new Error(report.failure);
  return `http://127.0.0.1:${report.port}`;
}

async function call(url, method, route, body, token = TOKEN) {
  const headers = { 'x-access-token': token, 'content-type': 'application/json' };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url + route, init);
  const result = await response.json();
  if (!result.success) throw new Error(JSON.stringify(result));
  return result;
}

/** Requests a second over some connections; anything but 200 fails the run. */
async function rate(request, connections) {
  const result = await autocannon({ ...request, connections, duration: Number(options.seconds) });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} rejected, ${result.errors} failed`);
  return { rate: result.requests.average, p99: result.latency.p99, p50: result.latency.p50 };
}

async function compare(name, connections, service, floor) {
  const measured = { service: [], floor: [] };
  for (const turn of ['service', 'floor', 'floor', 'service'])
    measured[turn].push(await rate(turn === 'service' ? service : floor, connections));
  const mean = (turn) => (measured[turn][0].rate + measured[turn][1].rate) / 2;
  const { p99, p50 } = measured.service[1];
  const share = ((mean('service') / mean('floor')) * 100).toFixed(0);
  console.log(
    `${name.padEnd(34)} ${String(connections).padStart(3)} conn.  ${share.padStart(3)} % of the floor   p99/p50 ${(p99 / p50).toFixed(1)}`,
  );
}

/** Runs `work` `count` times at once, repeatedly, and reports by how much the peak memory of the idle process grows. */
async function growth(name, count, work) {
  const service = new Listener('the mail service', children[0]);
  await delay(500);
  service.forgetPeak();
  const before = service.peakMemory;
  const all = () => Promise.all(Array.from({ length: count }, work));
  await all();
  const first = service.peakMemory - before;
  await all();
  const second = service.peakMemory - before;
  console.log(
    `${name.padEnd(34)} ${String(count).padStart(3)} at once   +${first.toFixed(0)} MB, the second time +${second.toFixed(0)} MB`,
  );
}

const quiet = () => undefined;
const database = await EmbeddedDatabase.open({
  dataDir: path.join(directory, 'data'),
  role: 'server',
  log: { info: quiet, warn: console.warn, error: console.error },
});
try {
  const env = { PATH: process.env.PATH, DATA_DIR: directory, LOG_LEVEL: 'warn', MAIL_QUOTA_MB: '0' };
  const order = { start: { databaseUrl: database.url, token: TOKEN, port: 0 } };
  const url = await started('../../../dist/mail-service/main.js', [], env, order, NODE_FLAGS);
  const account = { username: 'alice', password: 'Pa55-alice-word', address: 'alice@example.com' };
  const { id } = await call(url, 'POST', '/users', account);
  const { token } = await call(url, 'POST', '/authenticate', {
    username: 'alice',
    password: account.password,
    token: true,
  });
  const { results } = await call(url, 'GET', '/users/me/mailboxes', undefined, token);
  const box = Object.fromEntries(results.map((each) => [each.path, each.id]));
  const messages = `/users/me/mailboxes/${box.INBOX}/messages`;
  const to = [{ name: 'Bob', address: 'bob@example.com' }];
  const html = '<p>Hello <b>Bob</b>, the figures of last week.</p>'.repeat(20);
  const first = {
    from: { address: 'ann@far.example', name: 'Ann' },
    to,
    subject: 'Figures',
    text: 'Hello',
    html,
    unseen: true,
  };
  const attachments = [{ filename: 'a.bin', content: Buffer.alloc(3_000).toString('base64') }];
  await call(url, 'POST', messages, { ...first, attachments }, token);
  const admin = new pg.Client({ connectionString: database.url, options: '-c search_path=mail_service' });
  admin.on('error', quiet);
  await admin.connect();
  // The others are copies of a message that was delivered by SMTP.
  const count = Number(options.messages);
  await admin.query(
    `INSERT INTO messages SELECT user_id, mailbox_id, n, lpad(to_hex(n), 24, '0'), lpad(to_hex(n), 24, '0'), raw_id, size,
       idate - n * interval '1 minute', hdate - n * interval '1 minute', '<' || n || '@far.example>', subject || ' ' || n,
       intro, n % 5 = 0, false, false, false, false, false, summary, body_text, body_html, headers, meta_data, NULL, NULL, NULL
     FROM messages, generate_series(2, $1::int) n`,
    [count],
  );
  await admin.query(
    `UPDATE mailboxes SET total = $1::int, unseen = $1::int - $1::int / 5, uid_next = $1::int + 1 WHERE id = $2`,
    [count, box.INBOX],
  );
  await admin.query('ANALYZE');
  await admin.end();
  const files = path.join(directory, 'floor');
  mkdirSync(files);
  const floorUrl = await started(
    './mail-service-floor.mjs',
    [database.url, id, box.INBOX, box.Drafts, files],
    env,
  );

  const headers = { 'x-access-token': token, 'content-type': 'application/json' };
  const list = (base) => ({ url: `${base}${messages}?limit=50`, headers });
  const last = await call(url, 'GET', `${messages}?limit=50&order=asc`, undefined, token);
  const deep = `${url}${messages}?limit=50&order=asc&next=${last.nextCursor}`;
  const draft = { draft: true, to, subject: 'Figures', text: 'Hello', html };
  const body = JSON.stringify(draft);
  const creation = (base) => ({
    url: `${base}/users/me/mailboxes/${box.Drafts}/messages`,
    method: 'POST',
    headers,
    // The floor takes the fields as they are; the service checks them first.
    body: base === floorUrl ? JSON.stringify({ to, subject: 'Figures', text: 'Hello', html }) : body,
  });
  for (const connections of [1, 8, 32])
    await compare('list 50 of 10,000', connections, list(url), list(floorUrl));
  const near = await rate(list(url), 8);
  const far = await rate({ url: deep, headers }, 8);
  console.log(
    `a page from the other end: ${((far.rate / near.rate) * 100).toFixed(0)} % of the first page's rate`,
  );
  for (const connections of [1, 8])
    await compare('draft of 1 kB', connections, creation(url), creation(floorUrl));

  const content = Buffer.alloc(12 * 1024 * 1024, 'a few bytes').toString('base64');
  const drafts = `/users/me/mailboxes/${box.Drafts}/messages`;
  const big = { draft: true, subject: 'Figures', attachments: [{ filename: 'a.bin', content }] };
  const { message } = await call(url, 'POST', drafts, big, token);
  for (const count of [1, 2, 8])
    await growth('draft with 12 MiB', count, () => call(url, 'POST', drafts, big, token));
  await growth('download of 12 MiB', 8, async () => {
    const { body } = await fetch(`${url}${drafts}/${message.id}/attachments/ATT00001`, { headers });
    for await (const _ of body);
  });
} finally {
  for (const child of children) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}
