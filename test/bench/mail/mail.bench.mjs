/**
 * What the mail proxy costs: the built server, a bare pipe, and direct requests to the mail service, in turns. `npm run build`,
 * then `node test/bench/mail/mail.bench.mjs [--duration S]`.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { provision } from '../../../dist/provision/provision.js';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { Connection } from '../support/connection.mjs';
import { PATHS } from './mail-upstream.mjs';
import { startScript, startServer } from '../support/processes.mjs';

const { values } = parseArgs({ options: { duration: { type: 'string', default: '2' } } });
const DURATION = Number(values.duration) * 1000;
const WARM_UP = 500;
const BURN_IN = 3;
const CONNECTIONS = [1, 8, 32];
const DOWNLOADS = 8;
const PEOPLE = 8;
const UPLOADS = [1, 2, 8, 8, 8];

const BASE = '/apis/v1/mail';
const OURS = {
  '2 kB': `${BASE}${PATHS['2 kB']}`,
  '200 kB': `${BASE}${PATHS['200 kB']}`,
  '20 MB': `${BASE}/attachment?mailbox_id=${'a'.repeat(24)}&message_id=1&attachment_id=ATT00001&filename=x.bin`,
};

const get = (target, token) =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`;

/** Requests per second over so many connections, and what each costs the listener, seconds of processor time. */
async function rate(listener, requests, connections) {
  const { port } = listener;
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  let counting = false;
  let stopped = false;
  let count = 0;
  const loops = open.map(
    (connection, n) =>
      new Promise((resolve, reject) => {
        const send = () => connection.send(requests[n % requests.length], onResponse, reject);
        const onResponse = (status) => {
          if (status !== 200) return reject(new Error(`status ${status}`));
          if (counting) count += 1;
          if (stopped) resolve();
          else send();
        };
        send();
      }),
  );
  await Promise.race([delay(WARM_UP), Promise.all(loops)]);
  counting = true;
  const [began, cpu] = [performance.now(), listener.cpu];
  await Promise.race([delay(DURATION), Promise.all(loops)]);
  counting = false;
  const seconds = (performance.now() - began) / 1000;
  const spent = listener.cpu - cpu;
  stopped = true;
  await Promise.all(loops);
  for (const connection of open) connection.close();
  return { rate: count / seconds, cost: spent / count };
}

async function burnIn(listener, { server, tokens }) {
  const requests =
    listener === server ? tokens.map((token) => get(OURS['2 kB'], token)) : [get(PATHS['2 kB'])];
  for (let n = 0; n < BURN_IN; n += 1) await rate(listener, requests, 8);
}

async function compare(name, connections, { server, floor, upstream, tokens }) {
  const targets = {
    direct: [upstream, [get(PATHS[name])]],
    floor: [floor, [get(PATHS[name])]],
    proxy: [server, tokens.map((token) => get(OURS[name], token))],
  };
  const sums = { direct: 0, floor: 0, proxy: 0 };
  // Processor time of each request, the listening process' own.
  const costs = { floor: 0, proxy: 0 };
  for (const who of ['direct', 'floor', 'proxy', 'proxy', 'floor', 'direct']) {
    const [listener, requests] = targets[who];
    const measured = await rate(listener, requests, connections);
    sums[who] += measured.rate;
    if (who in costs) costs[who] += measured.cost;
  }
  const percent = (part, whole) => `${Math.round((100 * part) / whole)} %`.padStart(14);
  const columns = [
    percent(sums.proxy, sums.floor),
    percent(costs.floor, costs.proxy),
    percent(sums.proxy, sums.direct),
  ];
  console.log(`${name.padEnd(8)}${String(connections).padStart(6)}${columns.join('')}`);
}

async function memory({ server, tokens }) {
  await delay(1_000);
  server.forgetPeak();
  const before = server.peakMemory;
  const downloads = Array.from({ length: DOWNLOADS }, async (_, n) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${OURS['20 MB']}`, {
      headers: { authorization: `Bearer ${tokens[n % tokens.length]}` },
    });
    let bytes = 0;
    for await (const chunk of response.body) bytes += chunk.length;
    if (bytes !== 20_000_000) throw new Error(`received ${bytes} bytes`);
  });
  await Promise.all(downloads);
  console.log(
    `${DOWNLOADS} downloads of 20 MB at once: ${Math.round(server.peakMemory - before)} MB more memory\n`,
  );
}

/** Creates messages with 12 MiB attached, with several users at once. Memory that a round leaves counts at the start of the next. */
async function uploads({ server, tokens }) {
  const content = randomBytes(12 * 1024 * 1024).toString('base64');
  const body = JSON.stringify({ draft: true, attachments: [{ filename: 'x.bin', content }] });
  const grown = [];
  for (const people of UPLOADS) {
    await delay(1_000);
    server.forgetPeak();
    const before = server.peakMemory;
    const sent = tokens.slice(0, people).map(async (token) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${server.port}${OURS['200 kB']}`;
      const response = await fetch(url, { method: 'POST', headers, body });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      await response.arrayBuffer();
    });
    await Promise.all(sent);
    grown.push(`${people}: ${Math.round(server.peakMemory - before)}`);
  }
  console.log(`\n12 MiB attached, at once: ${grown.join(', ')} MB more memory`);
}

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-mail-bench-'));
const log = { info: () => undefined, warn: console.error, error: console.error };
const database = await EmbeddedDatabase.open({ dataDir: directory, role: 'server', log });
const processes = [];
try {
  const users = Array.from({ length: PEOPLE }, (_, n) => ({ email: `p${n}@bench.example`, name: `P${n}` }));
  const config = Config.parse({ DATABASE_URL: database.url, DEMO: 'false' });
  const people = await withApp(config, (app) =>
    provision(app, { tenants: [{ slug: 'bench', users }] }, true),
  );
  const tokens = people.users.map(({ token }) => token);
  const upstream = await startScript('the mail service', new URL('mail-upstream.mjs', import.meta.url));
  processes.push(upstream);
  const settings = { MAIL_SERVICE_URL: `http://127.0.0.1:${upstream.port}`, MAIL_SERVICE_TOKEN: 'x' };
  const floor = await startScript('the floor', new URL('mail-floor.mjs', import.meta.url), {
    UPSTREAM_PORT: String(upstream.port),
  });
  processes.push(floor);
  const server = await startServer(database.url, 10, [], settings);
  processes.push(server);
  const all = { server, floor, upstream, tokens };
  // Until the code that runs often has been compiled.
  for (const listener of [floor, server]) await burnIn(listener, all);
  // First, while the process has not yet grown for anything else.
  await memory(all);
  console.log('response conn.  of the floor   floor/its CPU  of the service');
  for (const name of Object.keys(PATHS)) {
    for (const connections of CONNECTIONS) await compare(name, connections, all);
  }
  await uploads(all);
} finally {
  for (const process of processes.toReversed()) await process.stop();
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}
