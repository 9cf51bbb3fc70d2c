// `node test/bench/platform/domains.bench.mjs`: processor time of ordinary operations of the other domains beside that of the note operation of
// the same kind (bar: 1.3 times). One user for each connection; operations take turns in rounds, and medians count.
// `--storage N`: bytes in the database of each of N creations and updates instead, with indexes, history and feeds.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { provision } from '../../../dist/provision/provision.js';
import { Connection } from '../support/connection.mjs';
import { databaseCpu, execute, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { median } from '../support/report.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    storage: { type: 'string', default: '0' },
  },
});
const CONNECTIONS = 8;
const ITEMS = 200;
const BAR = 1.3;
const WORDS = 'Agenda: the budget, rooms, the next steps and an owner of each of them. ';
const QUESTIONS = Array.from({ length: 20 }, (_, n) => ({
  id: `q${n}`,
  type: 'short_text',
  title: `Question ${n}`,
}));
const ANSWERS = Object.fromEntries(QUESTIONS.map(({ id }) => [id, 'An answer in a few words']));

/** Members of each room that send in turn: each has a limit of ten messages a second. */
const SENDERS = 20;

/** By domain: its kinds of operations, each `(caller, n) => [method, path, body, token]`; the token is by default that of the caller. */
const DOMAINS = {
  notes: {
    read: ({ notes }, n) => ['GET', `/notes/${notes[n % ITEMS]}`],
    list: () => ['GET', '/notes?limit=50'],
    create: (_, n) => ['POST', '/notes', { title: `Note ${n}`, content: WORDS.repeat(14) }],
    update: ({ notes, revisions }, n) => {
      const id = notes[n % ITEMS];
      revisions.set(id, (revisions.get(id) ?? 1) + 1);
      return [
        'PUT',
        `/notes/${id}`,
        { content: `${WORDS.repeat(14)}${n}`, base_revision: revisions.get(id) - 1 },
      ];
    },
  },
  tasks: {
    read: ({ tasks }, n) => ['GET', `/tasks/${tasks[n % ITEMS]}`],
    list: () => ['GET', '/tasks?limit=50'],
    create: (_, n) => ['POST', '/tasks', { title: `Task ${n}`, description: WORDS, due_date: '2027-01-01' }],
    update: ({ tasks }, n) => ['PATCH', `/tasks/${tasks[n % ITEMS]}`, { title: `Changed ${n}` }],
  },
  events: {
    read: ({ calendar, events }, n) => ['GET', `/calendar/${calendar}/events/${events[n % ITEMS]}`],
    list: ({ calendar }) => ['GET', `/calendar/${calendar}/events?limit=50`],
    create: ({ calendar }, n) => ['POST', `/calendar/${calendar}/events`, eventOf(n)],
    update: ({ calendar, events }, n) => [
      'PUT',
      `/calendar/${calendar}/events/${events[n % ITEMS]}`,
      { title: `Changed ${n}` },
    ],
  },
  contacts: {
    read: ({ book, contacts }, n) => ['GET', `/contact/addressbooks/${book}/contacts/${contacts[n % ITEMS]}`],
    list: ({ book }) => ['GET', `/contact/addressbooks/${book}/contacts?limit=50`],
    create: ({ book }, n) => ['POST', `/contact/addressbooks/${book}/contacts`, contactOf(n)],
    update: ({ book, contacts }, n) => [
      'PUT',
      `/contact/addressbooks/${book}/contacts/${contacts[n % ITEMS]}`,
      { job_title: `Title ${n}` },
    ],
  },
  messages: {
    list: ({ room }) => ['GET', `/chat/rooms/${room}/messages?limit=50`],
    create: ({ room, senders }, n) => {
      const message = { body: `${WORDS}${n}`, client_msg_id: randomUUID() };
      return ['POST', `/chat/rooms/${room}/messages`, message, senders[n % SENDERS].token];
    },
  },
  'form responses': {
    read: ({ form, responses }, n) => ['GET', `/forms/${form}/responses/${responses[n % ITEMS]}`],
    list: ({ form }) => ['GET', `/forms/${form}/responses?limit=50`],
    create: ({ form }) => ['POST', `/forms/${form}/submit`, { answers: ANSWERS }],
  },
};

function eventOf(n) {
  const day = String(1 + (n % 28)).padStart(2, '0');
  const start = { date_time: `2027-03-${day}T09:00:00`, time_zone: 'Europe/Berlin' };
  return { title: `Event ${n}`, description: WORDS, location: 'Room 1', start, duration: 'PT1H' };
}

function contactOf(n) {
  return {
    name: { given: 'Ada', family: `Lovelace ${n}` },
    emails: [{ value: `ada${n}@company.example`, types: ['work'] }],
    phones: [{ value: `+420601${String(n % 1e6).padStart(6, '0')}`, types: ['cell'] }],
    notes: WORDS,
  };
}

const textOf = (token, [method, path, body, own = token]) => {
  const json = body === undefined ? '' : JSON.stringify(body);
  const type =
    body === undefined
      ? ''
      : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
  return `${method} /apis/v1${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${own}\r\n${type}\r\n${json}`;
};

let counter = ITEMS;

await withWorkspace('domains', async ({ databaseUrl, server }) => {
  const config = Config.parse({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', DEMO: 'false' });
  const people = Array.from({ length: CONNECTIONS * (SENDERS + 1) }, (_, n) => ({
    email: `person${n}@domains.example`,
    name: `Person ${n}`,
    role: n === 0 ? 'owner' : 'member',
  }));
  const { users } = await withApp(config, (app) =>
    provision(app, { tenants: [{ slug: 'domains', users: people }] }, true),
  );
  const application = await server(WITHOUT_MAILBOXES);
  const callers = users.splice(0, CONNECTIONS);
  for (const caller of callers) await seed(application.port, caller, users.splice(0, SENDERS));
  if (Number(options.storage) > 0)
    return measureStorage(application, databaseUrl, callers, Number(options.storage));
  const found = new Map();
  for (let round = -1; round < Number(options.rounds); round += 1) {
    for (const [domain, kinds] of Object.entries(DOMAINS))
      for (const [kind, request] of Object.entries(kinds)) {
        if (domain !== 'notes' && !domain.includes(options.only)) continue;
        const cost = await measure(application, databaseUrl, callers, request);
        // The first round compiles code and fills caches.
        if (round >= 0) found.set(`${domain} ${kind}`, [...(found.get(`${domain} ${kind}`) ?? []), cost]);
      }
    // Without statistics the plans of the first requests read whole tables.
    if (round < 0) await execute(databaseUrl, 'VACUUM (ANALYZE)');
  }
  report(found);
});

/** Prints how much the database grows by each creation and update, once the indexers have followed. */
async function measureStorage(application, databaseUrl, callers, count) {
  const bytes = async () => {
    // When all consumers have finished, only events that are retried remain, and their number is constant.
    for (let pending = -1, same = 0; same < 4;) {
      await delay(500);
      const [now] = await execute(databaseUrl, 'SELECT count(*)::int AS pending FROM outbox');
      same = now.pending === pending ? same + 1 : 0;
      pending = now.pending;
    }
    await execute(databaseUrl, 'VACUUM FULL');
    const [row] = await execute(
      databaseUrl,
      `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    );
    return row.bytes;
  };
  print('| operation | bytes |\n| --- | --- |');
  let before = await bytes();
  for (const [domain, kinds] of Object.entries(DOMAINS))
    for (const kind of ['create', 'update']) {
      if (!kinds[kind]) continue;
      await Promise.all(
        callers.map(async (caller) => {
          const connection = await Connection.open(application.port);
          for (let n = 0; n < count / callers.length; n += 1) {
            const request = kinds[kind](caller, (counter += 1));
            const { status, body } = await connection.exchange(textOf(caller.token, request));
            if (status >= 300) throw new Error(`${status} ${body.slice(0, 300)}`);
          }
          connection.close();
        }),
      );
      const after = await bytes();
      print(`| ${domain} ${kind} | ${((after - before) / count).toFixed(0)} |`);
      before = after;
    }
}

/** Adds to the caller its items of every domain. */
async function seed(port, caller, senders) {
  const connection = await Connection.open(port);
  const call = async (...request) => {
    const { status, body } = await connection.exchange(textOf(caller.token, request));
    if (status >= 300) throw new Error(`${request.slice(0, 2).join(' ')}: ${status} ${body.slice(0, 300)}`);
    return JSON.parse(body);
  };
  Object.assign(caller, { revisions: new Map(), senders });
  caller.calendar = (await call('GET', '/calendar')).calendars[0].id;
  caller.book = (await call('GET', '/contact/addressbooks')).addressbooks[0].id;
  caller.room = (
    await call('POST', '/chat/rooms', {
      type: 'group',
      name: 'Room',
      member_ids: senders.map(({ id }) => id),
    })
  ).room.id;
  const definition = { sections: [{ id: 'main', title: 'Main', questions: QUESTIONS }], logic: [] };
  caller.form = (await call('POST', '/forms', { title: 'Form', definition })).form.id;
  await call('POST', `/forms/${caller.form}/publish`, {});
  const idOf = {
    notes: 'note',
    tasks: 'task',
    events: 'event',
    contacts: 'contact',
    'form responses': 'response',
  };
  for (const [domain, name] of Object.entries(idOf)) {
    const ids = [];
    for (let n = 0; n < ITEMS; n += 1) {
      const made = await call(...DOMAINS[domain].create(caller, n));
      const item = made[name] ?? made;
      ids.push(item.external_id ?? item.id ?? item.response_id);
    }
    caller[domain === 'form responses' ? 'responses' : domain] = ids;
  }
  for (let n = 0; n < ITEMS; n += 1) await call(...DOMAINS.messages.create(caller, n));
  connection.close();
}

/** @returns microseconds of processor time a request: of the server, and with PostgreSQL */
async function measure(application, databaseUrl, callers, request) {
  const processor = [application.cpu, await databaseCpu(databaseUrl)];
  const end = performance.now() + Number(options.seconds) * 1000;
  let count = 0;
  const loop = async (caller) => {
    const connection = await Connection.open(application.port);
    while (performance.now() < end) {
      const { status, body } = await connection.exchange(
        textOf(caller.token, request(caller, (counter += 1))),
      );
      if (status >= 300)
        throw new Error(`${request(caller, 0).slice(0, 2).join(' ')}: ${status} ${body.slice(0, 300)}`);
      count += 1;
    }
    connection.close();
  };
  await Promise.all(callers.map(loop));
  const own = (1e6 * (application.cpu - processor[0])) / count;
  return { own, all: own + (1e6 * ((await databaseCpu(databaseUrl)) - processor[1])) / count };
}

function report(found) {
  const medianOf = (costs, key) => median(costs.map((cost) => cost[key]));
  print(
    '| operation | server us | with PostgreSQL us | times the note operation |\n| --- | --- | --- | --- |',
  );
  for (const [name, costs] of found) {
    const note = found.get(`notes ${name.split(' ').at(-1)}`);
    const times = medianOf(costs, 'all') / medianOf(note, 'all');
    print(
      `| ${name} | ${medianOf(costs, 'own').toFixed(0)} | ${medianOf(costs, 'all').toFixed(0)} | ${times.toFixed(2)}${times > BAR ? ' MISSED' : ''} |`,
    );
  }
}
