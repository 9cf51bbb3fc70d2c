// `node test/bench/tasks/tasks.bench.mjs`: lists, filters and search of tasks against reading a note: one user with a folder of
// 10,000 tasks, in a workspace of 50,000.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { withApp } from '../../../dist/cli/context.js';
import { provision } from '../../../dist/provision/provision.js';
import { Config } from '../../../dist/config/config.js';
import { TaskIndexer } from '../../../dist/modules/tasks/lists/search/task-search.controller.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { Connection } from '../support/connection.mjs';
import { startServer } from '../support/processes.mjs';
import { get, NOTES } from '../support/requests.mjs';
import { preventJobs } from '../support/workspace.mjs';
import { FOLDER, NOTE, seedTasks } from './seed.mjs';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '50000' },
    folder: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '200' },
    data: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const ROUNDS = Number(values.rounds);
const WARM_UP = 20;

/** By name: the query of `GET /tasks`. Rare values concern one task in a thousand. */
function lists(me) {
  return {
    'first page': '',
    'of the folder': `folder_id=${FOLDER}`,
    'of the folder, manual order': `folder_id=${FOLDER}&sort=position`,
    'by date': 'sort=date',
    'by priority': 'sort=priority',
    'by creation': 'sort=created_at',
    'assignee=me': 'assignee=me',
    'assignee=me, by date': 'assignee=me&sort=date',
    'assignee=another': `assignee=${me.other}`,
    overdue: 'overdue=true',
    'overdue, by date': 'overdue=true&sort=date',
    'status=open': 'status=open',
    'status=done': 'status=done',
    'status=cancelled (rare)': 'status=cancelled',
    'priority=high': 'priority=high',
    'priority=critical (rare)': 'priority=critical',
    'a week': `date_from=${day(0)}&date_to=${day(7)}`,
    'a week, by date': `date_from=${day(0)}&date_to=${day(7)}&sort=date`,
    'note_id (rare)': `note_id=${NOTE}`,
    'label (rare)': 'label=rare',
    'text in the title': 'q=umbrella',
    trash: 'state=trash',
  };
}

const SEARCHES = {
  'a frequent word': 'project',
  'a rare word': 'umbrella',
  'two words': 'budget meeting',
  'a beginning': 'mig',
  'no match': 'xylophone',
  'a frequent word, in the folder': `project&folder_id=${FOLDER}`,
};

function day(offset) {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}

const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-tasks-bench-'));
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
  const admin = new pg.Client(config.DATABASE_URL);
  await admin.connect();
  try {
    const callers = await seeded(config, admin);
    await measure(callers);
  } finally {
    await admin.end();
  }
}

/** The callers: the owner of the large folder, and a member with some hundred tasks. */
async function seeded(config, admin) {
  const names = ['owner', 'member', 'other', ...Array.from({ length: 37 }, (_, n) => `person-${n}`)];
  const users = names.map((name, n) => ({
    email: `${name}@tasks.example`,
    name,
    role: n === 0 ? 'owner' : 'member',
  }));
  return withApp(config, async (app) => {
    const tenants = [{ slug: 'tasks', name: 'Tasks', domains: [], users }];
    const { users: people } = await provision(app, { tenants }, true);
    await preventJobs(admin);
    const { rows } = await admin.query('SELECT count(*)::int AS n FROM tasks');
    if (rows[0].n === 0) {
      const began = Date.now();
      await seedTasks(admin, people, { tasks: Number(values.tasks), folder: Number(values.folder) });
      say(`${values.tasks} tasks written in ${Math.round((Date.now() - began) / 1000)} s`);
      const indexing = Date.now();
      const indexer = app.get(TaskIndexer, { strict: false });
      while (!(await indexer.repair()));
      say(`indexed in ${Math.round((Date.now() - indexing) / 1000)} s`);
      await admin.query('DELETE FROM outbox');
      await admin.query('VACUUM (ANALYZE)');
    }
    const other = people[2].id;
    return [people[0], people[10]].map(({ id, token, tenant_id: tenant }, n) => ({
      who: n === 0 ? 'owner of the folder' : 'a member with some hundred tasks',
      other,
      user: id,
      token,
      tenant,
    }));
  });
}

/** Sends one read and one request of each kind in turn, so that other load of the machine affects all of them. */
async function measure(callers) {
  const server = await startServer(database.url, 10);
  const connection = await Connection.open(server.port);
  try {
    for (const caller of callers) {
      const { body } = await connection.exchange(noteOf(caller));
      const kinds = { 'read of a note': `notes/${JSON.parse(body).note.id}` };
      for (const [name, query] of Object.entries(lists(caller))) kinds[name] = `tasks?${query}`;
      kinds['first page, then the 100th'] = await deepPage(connection, caller);
      for (const [name, q] of Object.entries(SEARCHES))
        kinds[`search: ${name}`] = `search/tasks?limit=20&q=${encodeURI(q)}`;
      const wanted = Object.entries(kinds).filter(
        ([name], n) => n === 0 || values.only === '' || name.includes(values.only),
      );
      report(caller.who, await timed(connection, caller, wanted));
    }
  } finally {
    connection.close();
    await server.stop();
  }
}

function noteOf(caller) {
  const body = '{"title":"Minutes","content":"<p>Short</p>"}';
  const head = get(NOTES, caller).replace('GET', 'POST').slice(0, -2);
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function deepPage(connection, caller) {
  let cursor = '';
  for (let n = 0; n < 100; n += 1) {
    const { body } = await connection.exchange(get(`/apis/v1/tasks?limit=50${cursor}`, caller));
    const { next } = JSON.parse(body);
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  return `tasks?limit=50${cursor}`;
}

async function timed(connection, caller, kinds) {
  const times = new Map(kinds.map(([name]) => [name, { took: [], hits: 0 }]));
  for (let n = -WARM_UP; n < ROUNDS; n += 1) {
    for (const [name, target] of kinds) {
      const began = performance.now();
      const { status, body } = await connection.exchange(get(`/apis/v1/${target}`, caller));
      const took = performance.now() - began;
      if (status !== 200) throw new Error(`${name}: ${status} ${body.slice(0, 300)}`);
      if (n < 0) continue;
      times.get(name).took.push(took);
      times.get(name).hits = JSON.parse(body).tasks?.length ?? 0;
    }
  }
  return times;
}

function report(who, times) {
  const p50 = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
  const read = p50(times.get('read of a note').took);
  process.stdout.write(`\n${who}\n`);
  for (const [name, { took, hits }] of times)
    process.stdout.write(
      `${name.padEnd(42)} p50 ${p50(took).toFixed(2).padStart(7)} ms ${(p50(took) / read).toFixed(1).padStart(6)} reads, ${hits} tasks\n`,
    );
}
