/**
 * A month of 5,000 events and their synchronisation, beside Radicale 3 of Debian with its file storage. Both take turns; medians count.
 * `apt-get install radicale`, `npm run build`, then `node test/bench/dav/radicale.bench.mjs` (`--events N`, `--rounds N`, `--seconds S`).
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Connection } from '../support/connection.mjs';
import { databaseCpu, execute, freePort, Listener, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { median } from '../support/report.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';
import { calendarText, NAMESPACES, range, uidOf } from './data.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
});
const EVENTS = Number(options.events);
/** The bar. */
const TIMES = 5;
const CONNECTIONS = 4;

const textOf = (authorization, method, target, body = '', type = 'application/xml') =>
  `${method} ${target} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${authorization}\r\nDepth: 1\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

await withWorkspace('radicale', async ({ directory, databaseUrl, owner, server, stopAtEnd }) => {
  const own = await ownServer(await server(WITHOUT_MAILBOXES), owner);
  const radicale = await startRadicale(directory, stopAtEnd);
  const all = { ...own, databaseUrl };
  await execute(databaseUrl, 'VACUUM (ANALYZE)');
  const report = (name, inside) => `<${name} ${NAMESPACES}>${inside}</${name}>`;
  const month =
    '<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="20260601T000000Z" end="20260701T000000Z"/></C:comp-filter></C:comp-filter></C:filter>';
  const data = '<D:prop><D:getetag/><C:calendar-data/></D:prop>';
  const sync = (token) =>
    report(
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
  const bodies = {
    'REPORT of a month': () => report('C:calendar-query', data + month),
    'sync, without change': (token) => sync(token),
    'sync, all events': () => sync(''),
  };
  for (const each of [all, radicale]) each.token = await tokenOf(each, sync(''));
  print('| request | rate/s | Radicale | times | processor time ms | Radicale | bar |');
  print('| --- | --- | --- | --- | --- | --- | --- |');
  for (const [name, body] of Object.entries(bodies)) {
    const rounds = [];
    for (let round = -1; round < Number(options.rounds); round += 1) {
      const [one, other] = [await leg(all, body(all.token)), await leg(radicale, body(radicale.token))];
      if (round >= 0) rounds.push({ one, other });
    }
    const of = (side, key) => median(rounds.map((round) => round[side][key]));
    const times = median(rounds.map(({ one, other }) => one.rate / other.rate));
    print(
      `| ${name} | ${of('one', 'rate').toFixed(1)} | ${of('other', 'rate').toFixed(1)} | ${times.toFixed(1)} | ${of('one', 'cpu').toFixed(1)} | ${of('other', 'cpu').toFixed(1)} | ${times >= TIMES ? 'met' : 'MISSED'} |`,
    );
  }
});

async function ownServer(listener, owner) {
  const authorization = `Bearer ${owner.token}`;
  const api = async (target, body, type) => {
    const headers = { authorization, 'content-type': type };
    const response = await fetch(`http://127.0.0.1:${listener.port}/apis/v1${target}`, {
      method: 'POST',
      headers,
      body,
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  const { calendar } = await api('/calendar', JSON.stringify({ name: 'Bench' }), 'application/json');
  await api(`/calendar/${calendar.id}/events/batch`, calendarText(range(EVENTS)), 'text/calendar');
  return { listener, authorization, target: `/apis/v1/dav/calendars/${owner.id}/${calendar.id}/` };
}

/** Radicale without passwords, with the events as files in a calendar. */
async function startRadicale(directory, stopAtEnd) {
  const port = await freePort();
  const root = path.join(directory, 'radicale');
  const calendar = path.join(root, 'collection-root', 'ada', 'bench');
  mkdirSync(calendar, { recursive: true });
  writeFileSync(path.join(calendar, '.Radicale.props'), '{"tag": "VCALENDAR"}');
  for (const n of range(EVENTS)) writeFileSync(path.join(calendar, `${uidOf(n)}.ics`), calendarText([n]));
  const config = path.join(directory, 'radicale.conf');
  writeFileSync(
    config,
    `[server]\nhosts = 127.0.0.1:${port}\n[auth]\ntype = none\n[rights]\ntype = owner_only\n[storage]\nfilesystem_folder = ${root}\n[logging]\nlevel = error\n`,
  );
  const child = spawn('radicale', ['--config', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  const listener = stopAtEnd(await new Listener('Radicale', child, port).ready());
  const authorization = `Basic ${Buffer.from('ada:ada').toString('base64')}`;
  return { listener, authorization, target: '/ada/bench/' };
}

/** Radicale closes the connection after each response, so that each request has its own one at both servers. */
async function exchange({ listener, authorization, target }, body) {
  const connection = await Connection.open(listener.port);
  const response = await connection.exchange(textOf(authorization, 'REPORT', target, body));
  connection.close();
  if (response.status !== 207) throw new Error(`${response.status} ${response.body.slice(0, 300)}`);
  return response.body;
}

async function tokenOf(side, body) {
  return /<(?:D:)?sync-token>([^<]*)/.exec(await exchange(side, body))[1];
}

/** Closed-loop requests for some seconds. @returns requests a second; milliseconds of processor time of a request, with the database */
async function leg(side, body) {
  const cpu = async () => side.listener.cpu + (side.databaseUrl ? await databaseCpu(side.databaseUrl) : 0);
  const before = await cpu();
  const began = performance.now();
  const end = began + 1000 * Number(options.seconds);
  let count = 0;
  const loop = async () => {
    while (performance.now() < end) {
      await exchange(side, body);
      count += 1;
    }
  };
  await Promise.all(range(CONNECTIONS).map(loop));
  const rate = (1000 * count) / (performance.now() - began);
  return { rate, cpu: (1000 * ((await cpu()) - before)) / count };
}
