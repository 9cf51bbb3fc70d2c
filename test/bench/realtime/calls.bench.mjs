/**
 * Calls against their floor: tokens for members, status requests and messages of guests; then 1,000 guests who poll their status
 * beside the requests of members. `npm run build`, then `node test/bench/realtime/calls.bench.mjs` (`--guests N`, `--seconds S`,
 * `--connections 1,8`, `--only mint,status,message,polls`). Server and floor take turns; the ratios count.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { newToken } from '../../../dist/platform/secrets/secret-box.js';
import { startMedia } from './calls-media.mjs';
import { compare, headOf, jsonRequest, load, summaryOf } from '../support/compare.mjs';
import { Connection } from '../support/connection.mjs';
import { startScript } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    guests: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '1,8' },
    only: { type: 'string', default: 'mint,status,message,polls' },
  },
});
const GUESTS = Number(options.guests);
const SECONDS = Number(options.seconds);
const CONNECTIONS = options.connections.split(',').map(Number);
/** Guests of the closed loop, so that none reaches 60 requests a minute. */
const LOOP_GUESTS = 4_000;
/** Seconds between two status requests of a guest. */
const POLL_SECONDS = 3;
const WARM_UP_SECONDS = 1;

await withWorkspace('calls', async ({ databaseUrl, pool, owner, server, stopAtEnd }) => {
  const media = await startMedia();
  stopAtEnd({ stop: async () => media.close() });
  const livekit = {
    LIVEKIT_URL: media.url,
    LIVEKIT_API_KEY: 'key',
    LIVEKIT_API_SECRET: randomBytes(24).toString('hex'),
  };
  const application = await server({ ...livekit, TRUST_PROXY: 'loopback' });
  const settings = { DATABASE_URL: databaseUrl, DATABASE_POOL_MAX: String(pool), ...livekit };
  const floor = stopAtEnd(
    await startScript('the floor', new URL('calls-floor.mjs', import.meta.url), settings),
  );
  const headers = { authorization: `Bearer ${owner.token}`, 'x-tenant': owner.tenant_id, 'x-user': owner.id };
  const room = await post(application, headers, '/chat/rooms', { type: 'group', name: 'Bench' });
  const call = await post(application, headers, '/call/rooms', { room_id: room });
  const guests = await seed(databaseUrl, owner, { room, call }, media);
  const bench = { application, floor, seconds: SECONDS, headers, call, guests };
  const benches = { mint, status, message, polls };
  for (const name of options.only.split(',')) await benches[name](bench);
});

/** @returns id of the new room */
async function post({ port }, headers, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}/apis/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()).room.id;
}

/** Admitted guests of one link, each from a network of their own; the first is connected to the call. */
async function seed(url, { tenant_id: tenant, id: owner }, { room, call }, media) {
  const client = new pg.Client(url);
  await client.connect();
  const invite = { id: randomUUID(), ...newToken(tenant) };
  await client.query(
    `INSERT INTO external_invites (tenant_id, id, target_kind, call_id, room_id, kind, role, token_hash, require_otp,
                                   require_approval, chat_allowed, max_uses, created_by, expires_at)
     VALUES ($1, $2, 'call', $3, $4, 'link', 'guest', $5, false, false, true, 100, $6, now() + interval '1 day')`,
    [tenant, invite.id, call, room, invite.hash, owner],
  );
  const guests = Array.from({ length: Math.max(GUESTS, LOOP_GUESTS) }, (_, n) => ({
    id: randomUUID(),
    token: invite.token,
    session: newToken(tenant),
    network: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
  }));
  await client.query(
    `INSERT INTO guests (tenant_id, id, invite_id, call_id, room_id, role, state, display_name, token_hash, session_hash,
                         session_expires_at, admitted_seq, active_at)
     SELECT $1, id, $2, $3, $4, 'guest', 'in_session', 'Guest', sha256(session), session, now() + interval '1 day', 0,
            now() + interval '1 hour'
       FROM unnest($5::uuid[], $6::bytea[]) AS given (id, session)`,
    [tenant, invite.id, call, room, guests.map(({ id }) => id), guests.map(({ session }) => session.hash)],
  );
  const identity = `g:${guests[0].id}`;
  await client.query(
    `INSERT INTO call_participants (tenant_id, call_id, identity, principal_kind, principal_id, connection_id, joined_at, first_joined_at)
     VALUES ($1, $2, $3, 'guest', $4, 'PA_bench', now(), now())`,
    [tenant, call, identity, guests[0].id],
  );
  await client.query('UPDATE calls SET max_guests = 10000 WHERE tenant_id = $1', [tenant]);
  await client.query('VACUUM (ANALYZE)');
  await client.end();
  media.call.room = `t${tenant.replaceAll('-', '')}.${call}`;
  const joinedAt = String(Math.floor(Date.now() / 1000));
  media.call.participants.push({ identity, sid: 'PA_bench', joinedAt });
  return guests;
}

function guestHeaders({ session, network }) {
  return {
    'X-Guest-Session': session.token,
    'X-Forwarded-For': network,
  };
}

/** Returns the texts of the requests in turn, repeatedly. */
function cycle(texts) {
  let n = 0;
  return () => texts[n++ % texts.length];
}

async function mint(bench) {
  const request = jsonRequest('POST', `/apis/v1/call/tokens/${bench.call}/mint`, bench.headers, {});
  for (const connections of CONNECTIONS) await compare(bench, 'mint', () => request, connections);
}

function statusOf(guest) {
  return `GET /apis/v1/call/external/${guest.token}/status HTTP/1.1\r\n${headOf(guestHeaders(guest))}\r\n`;
}

async function status(bench) {
  const next = cycle(bench.guests.map(statusOf));
  for (const connections of CONNECTIONS) await compare(bench, 'status', next, connections);
}

async function message(bench) {
  let n = 0;
  const next = () => {
    const guest = bench.guests[n++ % bench.guests.length];
    const body = { client_msg_id: randomUUID(), body: 'The figures of the third quarter are in the folder.' };
    return jsonRequest(
      'POST',
      `/apis/v1/call/external/${guest.token}/chat/messages`,
      guestHeaders(guest),
      body,
    );
  };
  for (const connections of CONNECTIONS) await compare(bench, 'guest message', next, connections);
}

/** Reads of a member alone, and beside guests who each request their status every three seconds. */
async function polls({ application, headers, call, guests }) {
  const request = `GET /apis/v1/call/${call} HTTP/1.1\r\n${headOf(headers)}\r\n`;
  const reads = { connections: 4, seconds: 2 * POLL_SECONDS };
  await load(application.port, () => request, { connections: 4, seconds: WARM_UP_SECONDS });
  const alone = await load(application.port, () => request, reads);
  const polling = new AbortController();
  const times = [];
  // Requests that the server rejects for a moment are repeated with the next poll; other statuses fail the run.
  const statuses = new Set();
  let rejected = 0;
  const guestsPolling = guests.slice(0, GUESTS).map(async (guest, n) => {
    const connection = await Connection.open(application.port);
    const text = statusOf(guest);
    await delay((1000 * POLL_SECONDS * n) / GUESTS);
    while (!polling.signal.aborted) {
      const began = performance.now();
      const { status } = await connection.exchange(text);
      if (status === 200) times.push(performance.now() - began);
      else if (status === 503) rejected += 1;
      else {
        statuses.add(status);
        break;
      }
      await delay(1000 * POLL_SECONDS - (performance.now() - began));
    }
    connection.close();
  });
  await delay(1000 * POLL_SECONDS);
  times.length = 0;
  rejected = 0;
  const cpu = application.cpu;
  const began = performance.now();
  const beside = await load(application.port, () => request, reads);
  const polled = summaryOf(times, performance.now() - began);
  const used = application.cpu - cpu;
  polling.abort();
  await Promise.all(guestsPolling);
  if (statuses.size > 0) throw new Error(`status requests of guests: ${[...statuses].join(', ')}`);
  const milliseconds = (value) => `${value.toFixed(1)} ms`;
  print(
    `reads beside ${GUESTS} guests (${polled.rate.toFixed(0)} status requests/s, ${rejected} rejected with 503): ${beside.rate.toFixed(0)}/s, alone ${alone.rate.toFixed(0)}/s; p99 ${milliseconds(beside.p99)}, alone ${milliseconds(alone.p99)}; status p50 ${milliseconds(polled.p50)}, p99 ${milliseconds(polled.p99)}; ${used.toFixed(1)} s of processor time in ${reads.seconds} s`,
  );
}
