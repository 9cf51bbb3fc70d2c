// `node test/bench/realtime/realtime.bench.mjs`: sockets of the built server against a bare Socket.IO server, in turns. The clients run in
// this process and cost both the same.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { io } from 'socket.io-client';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { provision } from '../../../dist/provision/provision.js';
import { inParallel, rate, textOf, withStored } from './realtime-rates.mjs';
import { ADD_MESSAGES } from '../../support/domains/chat.ts';
import { startScript, startServer, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { median } from '../support/report.mjs';

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000' },
    missed: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
  },
});
const SOCKETS = Number(values.sockets);
const ROOM_SIZE = 10;
/** Members of each small room with a socket in the other process. */
const SENDERS = 3;
const POOL = 10;
/** Messages of each small room in a measurement of the fan-out alone. */
const STORED = 30;
/** Messages of each round whose time to their receipt is measured. */
const TIMED = 200;
/** Messages of one measurement in the small rooms: few enough for the limit of each user. */
const SENDS = 3 * SOCKETS;
const say = (text) => process.stderr.write(`${text}\n`);
const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-realtime-bench-'));
const database = await EmbeddedDatabase.open({
  dataDir: temporary,
  role: 'server',
  log: { info: () => undefined, warn: say, error: say },
});
const pool = new pg.Pool({ connectionString: database.url, max: 2 });
const children = [];
/** The JSON of a message for the bare server. */
let sample;
try {
  await main();
} finally {
  for (const child of children) await child.stop();
  await pool.end();
  await database.close();
  rmSync(temporary, { recursive: true, force: true });
}
process.exit();

async function main() {
  const config = Config.parse({
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
    DEMO: 'false',
    ...WITHOUT_MAILBOXES,
  });
  await migrateDatabase(config, database.url);
  const users = await withApp(config, async (app) => {
    const people = Array.from({ length: SOCKETS }, (_, n) => ({
      email: `person${n}@large.example`,
      name: `Person ${n}`,
      role: n === 0 ? 'owner' : 'member',
    }));
    return (await provision(app, { tenants: [{ slug: 'large', users: people }] }, true)).users;
  });
  const servers = [];
  for (let n = 0; n < 2; n += 1) servers.push(await startServer(database.url, POOL, [], WITHOUT_MAILBOXES));
  const bare = await startScript('the bare server', new URL('realtime-floor.mjs', import.meta.url), {
    DATABASE_URL: database.url,
    POOL: String(POOL),
  });
  children.push(...servers, bare);
  const base = (server) => `http://127.0.0.1:${server.port}`;
  const rooms = await createRooms(base(servers[0]), users);
  const before = memoryOf(servers[0]);
  const own = await connectAll(users, (user) => connectOwn(base(servers[0]), user));
  await delay(2_000);
  report('memory of an idle socket', `${Math.round(((memoryOf(servers[0]) - before) * 1024) / SOCKETS)} KiB`);
  const floor = await connectAll(users, (user, n) => connectBare(base(bare), roomsOf(rooms, n)));
  const senders = await connectAll(users, (user, n) =>
    n % ROOM_SIZE < SENDERS ? connectOwn(base(servers[1]), user) : undefined,
  );
  const results = {
    'fan-out, one room of all': [],
    'fan-out, rooms of 10': [],
    'sends, rooms of 10': [],
    'fan-out, other process': [],
    'durable sends': [],
  };
  const processes = { ours: servers[0], theirs: bare };
  const small = (n) => rooms.small[n % rooms.small.length];
  const pairs = [
    ['fan-out, one room of all', 40, 4, () => rooms.large, SOCKETS, 'send'],
    ['sends, rooms of 10', SENDS, 32, small, ROOM_SIZE, 'send'],
    ['fan-out, other process', SENDS, 32, small, ROOM_SIZE, 'send', senders],
    ['durable sends', SENDS, 32, small, ROOM_SIZE, 'store'],
  ];
  // Round -1 compiles code and fills the tables.
  for (let round = -1; round < Number(values.rounds); round += 1) {
    const deliveries = rooms.small.length * STORED * ROOM_SIZE;
    const pair = await inTurn(round, {
      ours: () =>
        withStored(pool, users[0], rooms.small, STORED, (run) => rate(processes.ours, own, deliveries, run)),
      theirs: () => rate(processes.theirs, floor, deliveries, () => burst(floor, rooms)),
    });
    if (round >= 0) results['fan-out, rooms of 10'].push(pair);
    for (const [name, sends, parallel, roomOf, size, kind, from = own] of pairs) {
      const sendAll = inParallel(sends, parallel);
      const measured = await inTurn(round, {
        ours: () =>
          rate(processes.ours, own, sends * size, () => sendAll((n) => sendOwn(from, rooms, roomOf(n), n))),
        theirs: () =>
          rate(processes.theirs, floor, sends * size, () =>
            sendAll((n) =>
              kind === 'send'
                ? sendBare(floor, rooms, roomOf(n), n)
                : storeBare(floor, users, rooms, roomOf(n), n),
            ),
          ),
      });
      if (round >= 0) results[name].push(measured);
    }
    // Without statistics the plans of the first messages read whole tables.
    if (round < 0) await pool.query('VACUUM (ANALYZE)');
  }
  for (const [name, list] of Object.entries(results)) {
    const of = (pick) => list.map(pick);
    const shares = of(([ours, theirs]) => (100 * ours.rate) / theirs.rate).toSorted((a, b) => a - b);
    const cpu = of(([ours, theirs]) => (100 * theirs.cpu) / ours.cpu);
    report(
      name,
      `${Math.round(median(of(([ours]) => ours.rate)))} deliveries/s, bare ${Math.round(median(of(([, theirs]) => theirs.rate)))}: ` +
        `${Math.round(median(shares))} % (${Math.round(shares[0])} to ${Math.round(shares.at(-1))} %); processor of the server ` +
        `${median(of(([ours]) => ours.cpu)).toFixed(1)} µs each, bare ${median(of(([, theirs]) => theirs.cpu)).toFixed(1)} µs: ${Math.round(median(cpu))} %`,
    );
  }
  await latencies(own, floor, users, rooms, base(servers[1]));
  await resume(own, rooms);
}

/** Runs both measurements, in the opposite order in every other round, and waits after each. @returns `[ours, theirs]` */
async function inTurn(round, { ours, theirs }) {
  const isOursFirst = round % 2 !== 1;
  const first = await (isOursFirst ? ours : theirs)();
  await settled();
  const second = await (isOursFirst ? theirs : ours)();
  await settled();
  return isOursFirst ? [first, second] : [second, first];
}

/** Waits until the servers have delivered the events of the messages and written their notifications. */
async function settled() {
  const pending = `SELECT EXISTS (SELECT FROM outbox WHERE parked_at IS NULL) AS pending`;
  for (let quiet = 0; quiet < 5;) {
    quiet = (await pool.query(pending)).rows[0].pending ? 0 : quiet + 1;
    await delay(100);
  }
}

async function call(base, user, target, body) {
  const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${base}/apis/v1${target}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** One room of all users, and rooms of ten. `members`: positions of the members by room. */
async function createRooms(base, users) {
  const create = async (members) => {
    const [owner, ...others] = members.map((n) => users[n]);
    const body = { type: 'group', name: 'room', member_ids: others.slice(0, 200).map(({ id }) => id) };
    const { room } = await call(base, owner, '/chat/rooms', body);
    for (let at = 200; at < others.length; at += 200) {
      const user_ids = others.slice(at, at + 200).map(({ id }) => id);
      await call(base, owner, `/chat/rooms/${room.id}/members`, { user_ids });
    }
    return room.id;
  };
  const all = users.map((_, n) => n);
  const large = await create(all);
  const members = new Map([[large, all]]);
  const small = [];
  for (let at = 0; at < users.length; at += ROOM_SIZE) {
    const group = all.slice(at, at + ROOM_SIZE);
    small.push(await create(group));
    members.set(small.at(-1), group);
  }
  return { large, small, members };
}

function roomsOf({ members }, n) {
  return [...members].filter(([, group]) => group.includes(n)).map(([id]) => id);
}

async function connectAll(users, connect) {
  const sockets = [];
  for (let at = 0; at < users.length; at += 25)
    sockets.push(...(await Promise.all(users.slice(at, at + 25).map((user, n) => connect(user, at + n)))));
  return sockets;
}

/** Like every client, it resumes after the connection. */
async function connectOwn(base, user) {
  const { token } = await call(base, user, '/auth/socket/token', {});
  const socket = await opened(
    io(base, { path: '/apis/v1/socket', transports: ['websocket'], forceNew: true, auth: { token } }),
  );
  await socket.emitWithAck('session.resume', { rooms: {} });
  return socket;
}

async function connectBare(base, rooms) {
  const socket = await opened(io(base, { transports: ['websocket'], forceNew: true }));
  await socket.emitWithAck('join', { rooms });
  return socket;
}

function opened(socket) {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('connect_error', reject);
  });
}

/** The sender of the n-th message: members take turns. */
function senderOf(sockets, { members }, room, n) {
  const group = members.get(room);
  return sockets[group[Math.floor((n * 7) / 3) % group.length]] ?? sockets[group[n % SENDERS]];
}

/** Repeats a send that the server rejects for a moment, as clients do. */
async function sendOwn(sockets, rooms, room, n) {
  const message = { room_id: room, ...textOf() };
  for (;;) {
    const response = await senderOf(sockets, rooms, room, n).emitWithAck('message.send', message);
    if (response.ok) return;
    if (response.status !== 429 && response.status !== 503) throw new Error(JSON.stringify(response));
    await delay((response.retry_after ?? 0.1) * 1_000);
  }
}

async function sendBare(sockets, rooms, room, n) {
  sample ??= (await pool.query('SELECT message FROM chat_message_views LIMIT 1')).rows[0].message;
  const message = { room_id: room, mod_seq: n, prev_mod_seq: n - 1, message: JSON.parse(sample) };
  await senderOf(sockets, rooms, room, n).emitWithAck('send', { room, message });
}

async function storeBare(sockets, users, rooms, room, n) {
  const user = users[rooms.members.get(room)[0]];
  const input = { ...textOf(), fingerprint: '00', format: 'plain', mentions: [], attachments: [], tsv: '' };
  await senderOf(sockets, rooms, room, n).emitWithAck('store', {
    room,
    values: { tenant: user.tenant_id, user: user.id, input },
  });
}

/** The same number of messages by the bare server, which gets them as JSON. */
async function burst(sockets, rooms) {
  const { rows } = await pool.query('SELECT message FROM chat_message_views LIMIT $1', [STORED]);
  const messages = rows.map(({ message }) => message);
  await Promise.all(
    rooms.small.map((room) => senderOf(sockets, rooms, room, 0).emitWithAck('burst', { room, messages })),
  );
}

/** Milliseconds from a send to its receipt: of our server between two processes, of the bare one within one process. */
async function latencies(own, floor, users, rooms, secondBase) {
  const [room] = rooms.small;
  const other = await connectOwn(secondBase, users[1]);
  const sendOurs = (n) =>
    own[n % 5 === 1 ? 0 : n % 5].emitWithAck('message.send', { room_id: room, ...textOf() });
  const at = (list, share) => list.toSorted((a, b) => a - b)[Math.floor(list.length * share)];
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    rounds.push(
      await inTurn(round, {
        ours: () => times(other, sendOurs),
        theirs: () => times(floor[1], (n) => storeBare(floor, users, rooms, room, n)),
      }),
    );
  for (const share of [0.5, 0.99]) {
    const quantiles = rounds.map((pair) => pair.map((list) => at(list, share)));
    const [ours, theirs] = [0, 1].map((n) => median(quantiles.map((pair) => pair[n])));
    const ratios = quantiles.map((pair) => pair[0] / pair[1]).toSorted((a, b) => a - b);
    report(
      `send to receipt, p${share * 100}`,
      `${ours.toFixed(1)} ms over two processes, bare ${theirs.toFixed(1)} ms in one: ${median(ratios).toFixed(1)} times (${ratios[0].toFixed(1)} to ${ratios.at(-1).toFixed(1)})`,
    );
  }
}

async function times(receiver, send) {
  const found = [];
  for (let n = 0; n < TIMED; n += 1) {
    const began = performance.now();
    const receipt = new Promise((resolve) => {
      receiver.once('message.created', resolve);
    });
    await Promise.all([send(n), receipt.then(() => found.push(performance.now() - began))]);
    await delay(25);
  }
  return found;
}

async function resume(own, rooms) {
  const room = rooms.small[0];
  const { rows } = await pool.query(
    'SELECT tenant_id, mod_seq::float8 AS mod_seq FROM chat_rooms WHERE id = $1',
    [room],
  );
  const [{ tenant_id: tenant, mod_seq: known }] = rows;
  const { rows: members } = await pool.query('SELECT user_id FROM chat_members WHERE room_id = $1 LIMIT 1', [
    room,
  ]);
  await pool.query(ADD_MESSAGES, [tenant, members[0].user_id, room, Number(values.missed)]);
  const began = performance.now();
  let [position, messages] = [known, 0];
  for (let more = true; more;) {
    const state = await own[5].emitWithAck('session.resume', { rooms: { [room]: position } });
    if (!state.ok) {
      await delay((state.retry_after ?? 1) * 1_000);
      continue;
    }
    ({ mod_seq: position, more } = state.rooms[room]);
    messages += state.rooms[room].messages.length;
  }
  report(`resume of ${messages} messages`, `${((performance.now() - began) / 1_000).toFixed(1)} s`);
}

/** Resident memory of a process, MiB. */
function memoryOf({ child }) {
  return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;
}

function report(name, text) {
  process.stdout.write(`${name.padEnd(30)} ${text}\n`);
}
