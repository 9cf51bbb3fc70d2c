// `node test/bench/sdk/sync.bench.mjs`: the client library with this service beside PouchDB and RxDB with their servers. The same
// notes, each device a process of its own with an empty store (on the disk; of RxDB in memory); the sides take turns.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { bodies } from '../support/html.mjs';
import { databaseCpu, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { fixed, median } from '../support/report.mjs';
import { preventJobs, print, withWorkspace } from '../support/workspace.mjs';
import { startPeers } from './peers.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    notes: { type: 'string', default: '10000' },
    contents: { type: 'string', default: '1000' },
    /** Names of sides, separated by commas. */
    only: { type: 'string', default: 'library,pouchdb,pouchdb-1000,rxdb' },
  },
});
const EDITS = 100;
const BATCH = 100;
const BYTES = 6_000;
const BAR = 3;
const WARM_UP_MS = 1_000;
const DEVICE = fileURLToPath(new URL('device.mjs', import.meta.url));

/** The sides by name. `batch`: documents of a request, where it is not the default of the peer. */
const SIDES = {
  library: { kind: 'library' },
  pouchdb: { kind: 'pouchdb' },
  'pouchdb-1000': { kind: 'pouchdb', batch: 1_000 },
  rxdb: { kind: 'rxdb' },
};
const sides = options.only.split(',').map((name) => ({ name, ...SIDES[name] }));

/** Creates the notes of a user. @returns them as the service returns them */
async function fill(base, { token }, count, texts) {
  const call = async (method, target, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${base}/apis/v1${target}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  for (let from = 0; from < count; from += BATCH) {
    const requests = Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => ({
      method: 'POST',
      path: '/apis/v1/notes',
      body: { title: `Note ${from + n}`, labels: ['planning'], content: texts[(from + n) % texts.length] },
    }));
    await call('POST', '/batch', { mode: 'ordered', requests });
  }
  const notes = [];
  for (let cursor; ;) {
    const query = new URLSearchParams({ limit: '200', include: 'content', ...(cursor && { cursor }) });
    const page = await call('GET', `/notes/index?${query}`);
    notes.push(...page.notes);
    if (!page.has_more) return notes;
    cursor = page.cursor;
  }
}

/** Runs a device in a process of its own, with the figures of its server. */
async function measure(side, server, cpuOfServer, order) {
  rmSync(order.directory, { recursive: true, force: true });
  mkdirSync(order.directory, { recursive: true });
  server.resume();
  // Timers that became due while the server was stopped run before the measurement.
  await fetch(order.url).then((response) => response.arrayBuffer());
  await delay(WARM_UP_MS);
  server.forgetPeak();
  const before = await cpuOfServer();
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    DEVICE,
    JSON.stringify({ ...order, side }),
  ]);
  const result = JSON.parse(stdout.trim().split('\n').at(-1));
  const figures = { ...result, server: { cpu: (await cpuOfServer()) - before, peak: server.peakMemory } };
  server.pause();
  return figures;
}

const results = [];

await withWorkspace(
  'sync',
  async ({ directory, databaseUrl, users, server, stopAtEnd }) => {
    const admin = new pg.Client(databaseUrl);
    admin.on('error', () => undefined);
    await admin.connect();
    await preventJobs(admin);
    const application = await server(WITHOUT_MAILBOXES);
    const base = `http://127.0.0.1:${application.port}`;
    const data = [
      { name: 'without', user: users[0], notes: await fill(base, users[0], Number(options.notes), ['']) },
      {
        name: 'with',
        user: users[1],
        notes: await fill(base, users[1], Number(options.contents), bodies(200, BYTES)),
      },
    ];
    await admin.query('VACUUM (ANALYZE)');
    const peers = await startPeers(new Set(sides.map(({ kind }) => kind)), directory, data, stopAtEnd);
    const cpuOfApplication = async () => application.cpu + (await databaseCpu(databaseUrl));
    const servers = { library: { base, listener: application, cpu: cpuOfApplication }, ...peers };
    for (const { listener } of Object.values(servers)) listener.pause();
    for (let round = 0; round < Number(options.rounds); round += 1)
      for (const side of round % 2 === 0 ? sides : sides.toReversed())
        for (const { name, user, notes } of data) {
          const { base: url, listener, cpu, modules } = servers[side.kind];
          const order = {
            url: `${url}`,
            database: name,
            modules,
            directory: path.join(directory, 'device'),
            user: user.id,
            token: user.token,
            count: notes.length,
            edits: name === 'with' ? EDITS : 0,
            mark: `${round}`,
          };
          const figures = await measure(side, listener, cpu, order);
          results.push({ side: side.name, data: name, ...figures });
          print(`round ${round + 1}, ${side.name}, ${name}: ${JSON.stringify(figures)}`);
        }
    await admin.end();
  },
  ['Ada', 'Bob'],
);

const SCENARIOS = [
  [`first sync of ${options.notes} notes without content`, 'without', 'first'],
  [`first sync of ${options.contents} notes with content`, 'with', 'first'],
  [`${EDITS} offline edits saved`, 'with', 'saved'],
  [`${EDITS} offline edits pushed`, 'with', 'pushed'],
];
const cell = (side, data, step, figure) =>
  median(results.filter((one) => one.side === side && one.data === data).map((one) => one[step][figure]));
print('\n| | side | ms | times | device CPU ms | requests | MB received | device grows by, MB | bar |');
print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
for (const [title, data, step] of SCENARIOS)
  for (const { name } of sides) {
    const of = (figure) => cell(name, data, step, figure);
    const times = of('ms') / cell('library', data, step, 'ms');
    const verdict = name === 'library' ? '' : times >= BAR ? `${BAR} met` : `${BAR} MISSED`;
    const cells = [fixed(of('ms')), fixed(times, 1), fixed(of('cpu')), fixed(of('requests')), fixed(of('bytes') / 1e6, 2), fixed(of('grown'))]; // prettier-ignore
    print(`| ${title} | ${name} | ${cells.join(' | ')} | ${verdict} |`);
  }
