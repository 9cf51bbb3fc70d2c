// `node test/bench/platform/access.bench.mjs`: the directory of a workspace of 10,000 members, and routes that need a permission,
// against reading a note.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { provision } from '../../../dist/provision/provision.js';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { startServer } from '../support/processes.mjs';

const { values } = parseArgs({
  options: { people: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '400' } },
});
const FIRST =
  'Anna Ben Carla David Eva Felix Greta Hugo Ines Jonas Klara Luis Mara Nils Olga Paul Rosa Sam Tina Uwe'.split(
    ' ',
  );
const LAST =
  'Müller Nguyễn Okafor Martin García Novák Øster Rossi Silva Tanaka Ueda Vogel Weber Yılmaz Zhang'.split(
    ' ',
  );

const say = (text) => process.stderr.write(`${text}\n`);
const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-access-bench-'));
const database = await EmbeddedDatabase.open({
  dataDir: temporary,
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
  const token = await withApp(config, async (app) => {
    const users = Array.from({ length: Number(values.people) }, (_, n) => ({
      email: `person${n}@large.example`,
      name: `${FIRST[n % FIRST.length]} ${LAST[Math.floor(n / FIRST.length) % LAST.length]} ${n}`,
      role: n === 0 ? 'owner' : 'member',
    }));
    await provision(app, { tenants: [{ slug: 'large', users }] });
    const { users: made } = await provision(app, { tenants: [{ slug: 'large', users: [users[0]] }] }, true);
    return made[0].token;
  });
  const server = await startServer(database.url, 10);
  try {
    await measure(`http://127.0.0.1:${server.port}/apis/v1`, token);
  } finally {
    await server.stop();
  }
}

/** Sends one request of each kind in turn, so that other load of the machine affects all kinds. */
async function measure(base, token) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = async (target, options) => {
    const response = await fetch(base + target, { headers, ...options });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  };
  const note = JSON.stringify({ title: 'x', content: '<p>x</p>' });
  const { id } = (await call('/notes', { method: 'POST', body: note })).note;
  const search = (q) => () => `/directory/search?q=${encodeURIComponent(q)}`;
  const requests = {
    'read a note': () => `/notes/${id}`,
    'directory: two letters (5 %)': search('ma'),
    'directory: a first name (5 %)': search('mara'),
    'directory: first and last name': search('mara nguyen'),
    'directory: one person': (n) => `/directory/search?q=person${(n * 37) % Number(values.people)}`,
    'directory: misspelt': search('katharyna'),
    'directory: part of every address': search('large'),
    'a route without permission (GET /tenant)': () => '/tenant',
    'a route with permission (GET /rbac/groups)': () => '/rbac/groups?limit=1',
  };
  const times = Object.fromEntries(Object.keys(requests).map((name) => [name, []]));
  for (let n = 0; n < Number(values.rounds); n += 1)
    for (const [name, target] of Object.entries(requests)) {
      const began = performance.now();
      await call(target(n));
      times[name].push(performance.now() - began);
    }
  const at = (list, share) => list.toSorted((a, b) => a - b)[Math.floor(list.length * share)];
  const read = at(times['read a note'], 0.5);
  for (const [name, list] of Object.entries(times))
    process.stdout.write(
      `${name.padEnd(44)} p50 ${(at(list, 0.5) / read).toFixed(1)} reads, p95 ${(at(list, 0.95) / read).toFixed(1)}\n`,
    );
}
