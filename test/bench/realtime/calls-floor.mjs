// The floor of the calls bench: a bare HTTP server with the statements of the repositories, without token, checks and limits of
// sizes. A token of the media server is signed by the same library.
import { createHash, createHmac } from 'node:crypto';
import { AccessToken } from 'livekit-server-sdk';
import { floorDatabase, floorPool, serveFloor } from '../support/floor-server.mjs';
import { GuestsRepository } from '../../../dist/modules/calls/guests/guests.repository.js';
import { MessageFacts } from '../../../dist/modules/chat/changes/message-facts.js';
import { MessageStore } from '../../../dist/modules/chat/changes/message-store.js';
import { MessageWrites } from '../../../dist/modules/chat/changes/message-writes.js';
import { GuestChatApi } from '../../../dist/modules/chat/chat.api.js';
import { TokensRepository } from '../../../dist/modules/calls/tokens/tokens.controller.js';

const { LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET } = process.env;
const TAKE = 'SELECT rate_limit_take($1::text[], $2::bytea[], $3::float8[], $4::int[]) AS wait';

const db = floorDatabase();
const guests = new GuestsRepository(db);
const tokens = new TokensRepository(db);
// No message has a file, and no socket receives one.
const writes = new MessageWrites(
  new MessageFacts(null),
  new MessageStore(),
  { markSent: () => undefined },
  { reportChange: () => undefined },
);
const chat = new GuestChatApi(null, writes, db);
const sha256 = (text) => createHash('sha256').update(text).digest();

async function mint({ tenantId, userId }, callId) {
  const identity = `u:${userId}:00000000`;
  const call = await tokens.findJoinable({ tenantId, userId }, callId, identity);
  const room = `t${tenantId.replaceAll('-', '')}.${callId}`;
  const token = new AccessToken(LIVEKIT_API_KEY, LIVEKIT_API_SECRET, {
    identity,
    name: call.display_name,
    ttl: 120,
  });
  token.addGrant({ roomJoin: true, room, canPublish: true, canPublishData: true, canSubscribe: true });
  const body = {
    token: await token.toJwt(),
    url: LIVEKIT_URL,
    room,
    identity,
    expires_in: 120,
    call_id: callId,
  };
  return { status: 200, json: JSON.stringify(body) };
}

/** The visitor of a request, whose limits are counted. */
async function visitorOf(headers, token) {
  const session = sha256(headers['x-guest-session']);
  const subjects = [session.toString('hex'), headers['x-forwarded-for']].map((subject) =>
    createHmac('sha256', 'key').update(subject).digest().subarray(0, 16),
  );
  await db.query({ name: 'take', text: TAKE }, [
    ['guest.session', 'guest.sessions'],
    subjects,
    [1, 0.05],
    [60, 1200],
  ]);
  const tenant = Buffer.from(token, 'base64url').toString('hex', 0, 16);
  const tenantId = tenant.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { tenantId, token: sha256(token), session };
}

async function status(headers, token) {
  const view = await guests.view(await visitorOf(headers, token));
  const { kind, target_kind, role, title, starts_at, require_otp, require_approval, chat_allowed, state } =
    view;
  const { call_state, locked, guest_id, guest_state, guest_name } = view;
  const requires = { otp: require_otp, approval: require_approval, name: true };
  const tenant = { name: 'bench' };
  const invite = { kind, target_kind, role, title, tenant, starts_at, requires, chat_allowed, state };
  const guest = { id: guest_id, state: guest_state, name: guest_name };
  const body = { invite, call: { live: call_state === 'live', locked }, guest, poll_after: 3 };
  return { status: 200, json: JSON.stringify(body) };
}

async function message(headers, token, body) {
  const input = JSON.parse(body);
  const visitor = await visitorOf(headers, token);
  const client = await floorPool.connect();
  const query = async ({ name, text }, values) => (await client.query({ name, text, values })).rows;
  try {
    await client.query('BEGIN');
    const tx = { query };
    const invite = await guests.invite(tx, visitor);
    const guest = await guests.lockSession(tx, visitor, invite);
    await guests.update(tx, guest, { state: 'in_session', active_at: invite.now });
    const { tenantId } = visitor;
    const room = {
      tenantId,
      guestId: guest.id,
      roomId: invite.room_id,
      afterSeq: Number(guest.admitted_seq),
    };
    const sent = await chat.send(tx, room, guest.display_name, { ...input, attachment_ids: [] });
    await client.query('COMMIT');
    return { status: 201, json: `{"message":${sent.message}}` };
  } finally {
    client.release();
  }
}

serveFloor(({ method, url, headers }, body) => {
  const [, , , , area, token] = url.split('/');
  if (area === 'tokens') return mint({ tenantId: headers['x-tenant'], userId: headers['x-user'] }, token);
  return method === 'GET' ? status(headers, token) : message(headers, token, body);
});
