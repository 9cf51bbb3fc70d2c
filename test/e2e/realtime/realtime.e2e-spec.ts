import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { SessionsApi } from '../../../src/modules/identity/index.js';
import { AccessWatch } from '../../../src/modules/identity/access-watch.js';
import { ChatApi } from '../../../src/modules/chat/index.js';
import { FanoutRepository } from '../../../src/modules/chat/messages/fanout.repository.js';
import { TokenResolver } from '../../../src/platform/context/request-context.js';
import { Db } from '../../../src/platform/database/db.js';
import { workspace } from '../../../src/platform/database/statement.js';
import { Bus } from '../../../src/platform/bus/bus.js';
import { RealtimeOptions } from '../../../src/platform/realtime/connection.js';
import { SocketTokens } from '../../../src/platform/realtime/socket-tokens.js';
import { UserConnections } from '../../../src/platform/realtime/user-connections.js';
import { HeadWatch } from '../../../src/platform/sync/head-watch.js';
import { session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { ExampleClient } from '../../realtime/example-client.ts';
import { ADD_MESSAGES } from '../../support/domains/chat.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('sockets', () => {
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let eve: TestUser;
  const open: TestSocket[] = [];

  beforeAll(async () => {
    one = await TestApp.start({ CORS_ORIGINS: 'https://app.example' });
    two = await TestApp.start({}, one.databaseUrl);
    [alice, bob, carol] = await one.tenant('acme', 'alice', 'bob', 'carol');
    [eve] = await one.tenant('globex', 'eve');
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const connect = async (app: TestApp, user: TestUser, options: object = {}): Promise<TestSocket> => {
    const socket = await TestSocket.open(app, user, options);
    open.push(socket);
    return socket;
  };
  const newRoom = async (...members: TestUser[]): Promise<string> => {
    const member_ids = members.map(({ id }) => id);
    const { status, body } = await alice.api.post('/chat/rooms', { type: 'group', name: 'r', member_ids });
    expect(status).toBe(201);
    return body.room.id;
  };
  const text = (room_id: string, body = 'hello') => ({ room_id, client_msg_id: randomUUID(), body });
  const post = (user: TestUser, room: string, body = 'hello') =>
    user.api.post(`/chat/rooms/${room}/messages`, { client_msg_id: randomUUID(), body });
  const inRoom = (room: string) => (payload: any) => payload.room_id === room;

  describe('authentication', () => {
    test('a token opens one socket, in any process', async () => {
      const { status, body } = await alice.api.post('/auth/socket/token');
      expect({ status, body }).toEqual({
        status: 201,
        body: {
          token: expect.stringMatching(/^[\w-]{64}$/),
          expires_in: 60,
          url: '/apis/v1/socket',
          protocol: 'socket.io/4',
        },
      });
      const socket = await TestSocket.with(two, body.token);
      open.push(socket);
      expect(socket.named('hello')[0]).toEqual({
        conn_id: socket.socket.id,
        server_time: expect.any(String),
        heartbeat: expect.any(Number),
      });
      await expect(TestSocket.with(one, body.token)).rejects.toThrow('unauthorized');
      const stored = `SELECT hash FROM socket_tokens WHERE encode(hash, 'base64') = $1`;
      expect(await one.sql(stored, [body.token])).toEqual([]);
    });

    test('unknown, expired and malformed tokens are rejected', async () => {
      const { token } = (await alice.api.post('/auth/socket/token')).body;
      await one.sql(`UPDATE socket_tokens SET expires_at = now() - interval '1 second'`);
      const changed = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`;
      for (const wrong of [token, changed, '', 'x'.repeat(64), null, 1, {}, undefined, alice.token])
        await expect(TestSocket.with(one, wrong)).rejects.toThrow('unauthorized');
      expect((await one.anonymous.post('/auth/socket/token')).status).toBe(401);
    });

    test('only the websocket transport, and only allowed origins', async () => {
      const { body, status } = await one.anonymous.get('/socket/?EIO=4&transport=polling');
      expect([status, body.error]).toEqual([404, 'not_found']);
      const origin = (value: string) => ({ extraHeaders: { origin: value } });
      await expect(connect(one, alice, origin('https://evil.example'))).rejects.toThrow('websocket error');
      await connect(one, alice, origin('https://app.example'));
      await connect(one, alice, origin(one.base));
      await connect(one, alice);
    });

    test('an offer of another protocol is ignored', async () => {
      const { port } = new URL(one.base);
      const status = await new Promise<number>((resolve, reject) => {
        const headers = {
          connection: 'Upgrade, HTTP2-Settings',
          upgrade: 'h2c',
          'http2-settings': 'AAMAAABk',
        };
        const call = request({ port, path: '/apis/v1/notes', headers }, (response) => {
          response.resume();
          resolve(response.statusCode as number);
        });
        call.on('error', reject);
        call.end();
      });
      expect(status).toBe(401);
    });

    test('a socket ends with its session at once, in every process, without a poll', async () => {
      for (const app of [one, two]) clearInterval(app.get(AccessWatch)['timer' as never]);
      const other = await session(one, alice);
      const sockets = [await connect(one, other), await connect(two, other)];
      const kept = await connect(two, alice);
      expect((await other.api.post('/auth/sign-out')).status).toBe(200);
      for (const socket of sockets) {
        await until('the end of the socket', () => socket.ended);
        expect(socket.named('session.closing')).toEqual([{ reason: 'access_changed' }]);
      }
      expect((await kept.send('session.resume', { rooms: {} })).ok).toBe(true);
      expect(kept.ended).toBeUndefined();
    });

    test('a token that was created before the session ended is rejected', async () => {
      const other = await session(one, alice);
      const { token } = (await other.api.post('/auth/socket/token')).body;
      await other.api.post('/auth/sign-out');
      await one.get(SessionsApi).refreshNow();
      await expect(TestSocket.with(one, token)).rejects.toThrow('unauthorized');
    });

    test('a token that a process issued before it read the end of the session or membership is rejected', async () => {
      const [other, dora] = [await session(one, alice), await one.member('acme', 'dora-late@acme.example')];
      const late = (user: TestUser, sessionId: string | null) =>
        one.get<SocketTokens>(SocketTokens).issue({
          tenantId: user.tenantId!,
          userId: user.id,
          sessionId,
          role: 'member',
          requestId: 'late',
        });
      const idOf = (user: TestUser): string => decodeJwt(user.token)['sid'] as string;
      open.push(await TestSocket.with(one, await late(other, idOf(other))));
      await other.api.post('/auth/sign-out');
      await alice.api.post(`/tenant/members/${dora.id}/deactivate`);
      for (const app of [one, two]) await app.get(SessionsApi).refreshNow();
      for (const token of [
        await late(other, idOf(other)),
        await late(dora, idOf(dora)),
        await late(dora, null),
      ])
        await expect(TestSocket.with(two, token)).rejects.toThrow('unauthorized');
    });

    test('a session that ends after the check of its token has no socket', async () => {
      const other = await session(one, alice);
      const { token } = (await other.api.post('/auth/socket/token')).body;
      const change = {
        account_id: alice.id,
        tenant_id: alice.tenantId,
        session_id: decodeJwt(other.token)['sid'],
      };
      const report = async () => {
        await setImmediate();
        const { listeners } = one.get(AccessWatch) as unknown as { listeners: ((row: object) => void)[] };
        for (const listener of listeners) listener(change);
      };
      const callers = one.get<TokenResolver>(TokenResolver);
      const isValid = callers.isValid.bind(callers);
      callers.isValid = async (identity) => {
        const result = await isValid(identity);
        void report();
        return result;
      };
      try {
        await expect(TestSocket.with(one, token)).rejects.toThrow('unauthorized');
      } finally {
        callers.isValid = isValid;
      }
    });

    test('a deactivated member loses their sockets', async () => {
      const dora = await one.member('acme', 'dora@acme.example');
      const socket = await connect(two, dora);
      await alice.api.post(`/tenant/members/${dora.id}/deactivate`);
      await until('the end of the socket', () => socket.ended);
    });

    test('a socket lives for its time unless another token of its session refreshes it', async () => {
      const options = one.get(RealtimeOptions);
      // A busy machine must refresh the socket within it.
      Object.assign(options, { lifetimeSeconds: 15, warningSeconds: 14.5 });
      try {
        const [kept, ended] = [await connect(one, alice), await connect(one, alice)];
        await kept.next('auth.expiring');
        options.lifetimeSeconds = 3_600;
        const { token } = (await bob.api.post('/auth/socket/token')).body;
        expect(await kept.send('auth.refresh', { token })).toMatchObject({ ok: false, status: 401 });
        const own = (await alice.api.post('/auth/socket/token')).body.token;
        expect(await kept.send('auth.refresh', { token: own })).toMatchObject({ ok: true });
        await until('the end of the other socket', () => ended.ended);
        expect(kept.ended).toBeUndefined();
      } finally {
        Object.assign(options, { lifetimeSeconds: 3_600, warningSeconds: 120 });
      }
    });
  });

  describe('limits', () => {
    test('20 sockets of one user', async () => {
      const [dave] = await one.tenant('limits', 'dave');
      for (let n = 0; n < 20; n += 1) await connect(one, dave);
      await expect(connect(one, dave)).rejects.toThrow('too_many_sockets');
      open.pop()!.close();
      await until(
        'the place of the closed socket',
        () => one.get(UserConnections).connectionsOf(dave.tenantId!, dave.id).size < 20,
      );
      await connect(one, dave);
    });

    test('20 sockets of one user, also of those that connect at the same time', async () => {
      const [dave] = await one.tenant('at-once', 'dave');
      const tokens = one.get(SocketTokens);
      const use = tokens.use.bind(tokens);
      const all = Promise.withResolvers<void>();
      let verified = 0;
      tokens.use = async (token) => {
        const identity = await use(token);
        if ((verified += 1) === 24) all.resolve();
        await all.promise;
        return identity;
      };
      try {
        const results = await Promise.allSettled(Array.from({ length: 24 }, () => connect(one, dave)));
        const rejected = results.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []));
        expect(rejected).toEqual(Array(4).fill('too_many_sockets'));
      } finally {
        tokens.use = use;
      }
    });

    test('a flood of events is limited, and ends the socket', async () => {
      const [dave] = await one.tenant('flood', 'dave');
      const socket = await connect(one, dave);
      const accepted = await Promise.all(
        Array.from({ length: 40 }, () => socket.send('session.resume', { rooms: {} })),
      );
      expect(accepted.every(({ ok }) => ok)).toBe(true);
      const responses: any[] = [];
      for (let n = 0; n < 1_000; n += 1)
        socket.socket.emit('session.resume', { rooms: {} }, (response: any) => responses.push(response));
      await until('the end of the socket', () => socket.ended);
      const limited = responses.find(({ ok }) => !ok);
      expect(limited).toMatchObject({ status: 429, error: 'too_many_requests', retry_after: 1 });
    });

    test('a frame of more than 64 KiB ends the socket', async () => {
      const socket = await connect(one, alice);
      socket.socket.emit('message.send', { body: 'x'.repeat(70_000) });
      await until('the end of the socket', () => socket.ended);
    });

    test('a socket without a valid token is closed', async () => {
      const { port } = new URL(one.base);
      const raw = new WebSocket(`ws://127.0.0.1:${port}/apis/v1/socket/?EIO=4&transport=websocket`);
      await new Promise((resolve) => {
        raw.addEventListener('close', resolve);
      });
      expect(raw.readyState).toBe(WebSocket.CLOSED);
    });

    test('a thousand sockets without a token do not count in the limits of users, and are closed', async () => {
      const options = one.get(RealtimeOptions);
      const { port } = new URL(one.base);
      const sockets: WebSocket[] = [];
      const openRaw = () => {
        const raw = new WebSocket(`ws://127.0.0.1:${port}/apis/v1/socket/?EIO=4&transport=websocket`);
        sockets.push(raw);
        return new Promise<'open' | 'rejected'>((resolve) => {
          raw.addEventListener('open', () => resolve('open'));
          raw.addEventListener('error', () => resolve('rejected'));
        });
      };
      options.maxUnauthenticated = 20;
      try {
        const results: string[] = [];
        for (let n = 0; n < 10; n += 1)
          results.push(...(await Promise.all(Array.from({ length: 100 }, () => openRaw()))));
        expect(results.filter((result) => result === 'rejected').length).toBeGreaterThan(0);
        expect(one.get(UserConnections).all.every(({ socket }) => socket.connected)).toBe(true);
        await until('the end of all', () =>
          sockets.every(({ readyState }) => readyState === WebSocket.CLOSED),
        );
        const socket = await connect(one, alice);
        expect((await socket.send('session.resume', { rooms: {} })).ok).toBe(true);
      } finally {
        options.maxUnauthenticated = 1_000;
        for (const socket of sockets) socket.close();
      }
    });

    test('a client that does not read is closed', async () => {
      const [dave] = await one.tenant('slow', 'dave');
      const socket = await connect(one, dave);
      const padding = {
        name: 'padding',
        summary: '',
        payload: class {
          text!: string;
        },
      };
      const { transport } = socket.socket.io.engine as any;
      transport.ws._socket.pause();
      const connections = () => one.get(UserConnections).connectionsOf(dave.tenantId!, dave.id);
      const [{ socket: served }] = connections() as any;
      for (let n = 0; n < 200 && connections().size > 0; n += 1) {
        for (const connection of connections()) connection.send(padding, { text: 'y'.repeat(1024 * 1024) });
        await setImmediate();
      }
      expect(connections().size).toBe(0);
      // The client would not read a closing frame either.
      expect(served.request.socket.destroyed).toBe(true);
    });

    test('a client that does not read does not delay the end of the process', async () => {
      const app = await TestApp.start({}, one.databaseUrl);
      const { socket } = await connect(app, alice);
      (socket.io.engine as any).transport.ws._socket.pause();
      const waiting = new AbortController();
      const longest = delay(25_000, 'waiting', { signal: waiting.signal });
      try {
        expect(await Promise.race([app.stop().then(() => 'stopped'), longest])).toBe('stopped');
      } finally {
        waiting.abort();
        await longest.catch(() => undefined);
      }
    });

    test('any payload gets a typed acknowledgement', async () => {
      const [dave] = await one.tenant('payloads', 'dave');
      const options = one.get(RealtimeOptions);
      const socket = await connect(one, dave);
      const names = [
        'message.send',
        'message.edit',
        'message.delete',
        'message.react',
        'room.read',
        'typing',
        'session.resume',
        'auth.refresh',
        'unknown',
        'constructor',
      ];
      options.burst = 100_000;
      try {
        const field = fc.constantFrom(
          'room_id',
          'message_id',
          'rooms',
          'body',
          'emoji',
          'seq',
          'limit',
          'client_msg_id',
          'constructor',
          '__proto__',
        );
        const value = fc.oneof(
          fc.jsonValue(),
          fc.uuid(),
          fc.string(),
          fc.dictionary(fc.uuid(), fc.integer()),
        );
        const payload = fc.oneof(fc.jsonValue(), fc.dictionary(field, value));
        await fc.assert(
          fc.asyncProperty(fc.constantFrom(...names), payload, async (name, input) => {
            const response = await socket.send(name, input);
            if (response.ok) expect(['session.resume']).toContain(name);
            else {
              expect(response.status).toBeGreaterThanOrEqual(400);
              expect(response.status).toBeLessThan(500);
              expect(response.error).toEqual(expect.any(String));
            }
          }),
          { numRuns: runs(300) },
        );
      } finally {
        options.burst = 40;
      }
      expect(socket.ended).toBeUndefined();
    });
  });

  describe('chat', () => {
    test('a message reaches the members at every process once, in order', async () => {
      const room = await newRoom(bob);
      const sender = await connect(one, alice);
      const sockets = [await connect(one, bob), await connect(two, bob), await connect(two, alice)];
      const outside = [await connect(two, carol), await connect(one, eve)];
      const { ok, message, duplicate } = await sender.send('message.send', text(room, 'number 1'));
      expect({ ok, duplicate, seq: message.seq }).toEqual({ ok: true, duplicate: false, seq: 1 });
      for (let n = 2; n <= 30; n += 1) await post(n % 2 ? alice : bob, room, `number ${n}`);
      const { messages } = (await alice.api.get(`/chat/rooms/${room}/messages`)).body;
      for (const socket of [...sockets, sender]) {
        await socket.next(
          'message.created',
          ({ message: { seq }, room_id }) => room_id === room && seq === 30,
        );
        const received = socket.named('message.created').filter(inRoom(room));
        expect(received.map((event) => event.message)).toEqual(messages);
        expect(received.map(({ prev_mod_seq }) => prev_mod_seq)).toEqual(
          messages.map(({ seq }: any) => seq - 1),
        );
      }
      for (const socket of outside)
        expect(socket.events.filter(({ payload }) => payload.room_id === room)).toEqual([]);
    });

    test('a message of any length and script reaches every process unchanged', async () => {
      const room = await newRoom(bob);
      const sockets = [await connect(one, bob), await connect(two, bob)];
      for (const character of ['a', '"', '\\', '\t', '€', '😀'])
        for (const length of [1, 600, 1_500, 2_500]) {
          const { status, body } = await post(alice, room, `x${character.repeat(length)}y`);
          expect(status).toBe(201);
          for (const socket of sockets) {
            const { message } = await socket.next(
              'message.created',
              (event) => event.message.id === body.message.id,
            );
            expect(message).toEqual(body.message);
          }
        }
    });

    test('events that wait for one socket arrive together, in order', async () => {
      const room = await newRoom(bob);
      const socket = await connect(one, bob);
      await post(alice, room);
      const first = await socket.next('message.created', inRoom(room));
      await one.sql(ADD_MESSAGES, [alice.tenantId, alice.id, room, 300]);
      await post(alice, room, 'last');
      await socket.next('message.created', ({ message }) => message.body === 'last');
      const numbers = socket
        .named('message.created')
        .filter(inRoom(room))
        .map((event) => event.mod_seq);
      expect(numbers).toEqual(Array.from({ length: 302 }, (_, n) => first.mod_seq + n));
    });

    test('edits, reactions and deletions are events; a repeated message is acknowledged as a duplicate', async () => {
      const room = await newRoom(bob);
      const socket = await connect(one, alice);
      const other = await connect(two, bob);
      const input = text(room);
      const { message } = await socket.send('message.send', input);
      await other.next('message.created', inRoom(room));
      const target = { room_id: room, message_id: message.id };
      expect(await socket.send('message.send', input)).toMatchObject({ ok: true, duplicate: true });
      const edited = await socket.send('message.edit', { ...target, body: 'better' });
      expect((await other.next('message.updated')).message).toEqual(edited.message);
      const reacted = await other.send('message.react', { ...target, emoji: '👍' });
      expect((await socket.next('message.updated', ({ mod_seq }) => mod_seq === 3)).message).toEqual(
        reacted.message,
      );
      const deleted = await socket.send('message.delete', target);
      expect((await other.next('message.deleted')).message).toEqual(deleted.message);
      const conflict = await socket.send('message.send', { ...input, body: 'other' });
      expect(conflict).toMatchObject({ ok: false, status: 409, error: 'idempotency_key_reused' });
    });

    test('members learn of their rooms, and read positions reach their other devices', async () => {
      const socket = await connect(two, bob);
      const room = await newRoom(bob);
      expect(await socket.next('room.added', inRoom(room))).toEqual({ room_id: room });
      await post(alice, room);
      const device = await connect(one, bob);
      expect(await device.send('room.read', { room_id: room, seq: 1 })).toMatchObject({ unread: 0 });
      const position = { room_id: room, last_read_seq: 1, unread: 0 };
      expect(await socket.next('room.read', inRoom(room))).toEqual(position);
      await alice.api.delete(`/chat/rooms/${room}`);
      expect(await socket.next('room.removed', inRoom(room))).toEqual({ room_id: room });
    });

    test('a reaction to the report of an addition makes no user a member again', async () => {
      const room = await newRoom(carol);
      await alice.api.post(`/chat/rooms/${room}/members`, { user_id: bob.id });
      const { messages } = (await alice.api.get(`/chat/rooms/${room}/messages`)).body;
      const added = messages.findLast(({ event }: any) => event?.type === 'members_added');
      const removed = await connect(two, bob);
      const witness = await connect(two, carol);
      await alice.api.delete(`/chat/rooms/${room}/members/${bob.id}`);
      const reaction = await alice.api.put(`/chat/rooms/${room}/messages/${added.id}/reactions`, {
        emoji: '👍',
      });
      await post(alice, room, 'marker-8813');
      await witness.next('message.created', ({ message }) => message.body === 'marker-8813');
      expect(JSON.stringify(removed.events)).not.toContain('marker-8813');
      expect([reaction.status, reaction.body.error]).toEqual([403, 'forbidden']);
    });

    test('a removed member receives nothing from the removal on', async () => {
      const room = await newRoom(bob, carol);
      const removed = await connect(two, bob);
      const witness = await connect(two, carol);
      await post(alice, room, 'before');
      await removed.next('message.created', inRoom(room));
      await alice.api.delete(`/chat/rooms/${room}/members/${bob.id}`);
      await post(alice, room, 'marker-8812');
      await witness.next('message.created', ({ message }) => message.body === 'marker-8812');
      await removed.next('room.removed', inRoom(room));
      expect(JSON.stringify(removed.events)).not.toContain('marker-8812');
      const sent = await removed.send('message.send', text(room));
      expect(sent).toMatchObject({ ok: false, status: 404, error: 'not_found' });
      expect(await removed.send('typing', { room_id: room })).toMatchObject({ ok: false, status: 404 });
      const resumed = await removed.send('session.resume', { rooms: { [room]: 0 } });
      expect(resumed).toMatchObject({ ok: true, removed: [room] });
      expect(resumed.rooms[room]).toBeUndefined();
      expect(await removed.send('room.open', { room_id: room })).toMatchObject({ ok: false, status: 404 });
      const paths = [
        '/chat/rooms',
        `/chat/rooms/${room}`,
        `/chat/rooms/${room}/messages`,
        `/presence/rooms/${room}`,
      ];
      for (const path of [...paths, `/chat/rooms/${room}/messages?q=marker`, '/chat/user', '/sync/state'])
        expect((await bob.api.get(path)).text).not.toContain('marker-8812');
      // An added member receives what follows.
      await alice.api.post(`/chat/rooms/${room}/members`, { user_id: bob.id });
      await post(alice, room, 'after');
      await removed.next('message.created', ({ message }) => message.body === 'after');
    });

    test('typing reaches the other members', async () => {
      const room = await newRoom(bob);
      const [socket, other] = [await connect(one, alice), await connect(two, bob)];
      expect(await socket.send('typing', { room_id: room })).toEqual({ ok: true });
      expect(await other.next('typing')).toEqual({
        room_id: room,
        user_id: alice.id,
        on: true,
        expires_in: 6,
      });
      expect(socket.named('typing')).toEqual([]);
    });

    test('typing of an invisible member is not reported', async () => {
      const room = await newRoom(bob);
      const [socket, other] = [await connect(one, alice), await connect(two, bob)];
      await socket.send('presence.set', { status: 'invisible' });
      expect(await socket.send('typing', { room_id: room })).toEqual({ ok: true });
      await socket.send('presence.set', { status: 'online' });
      await socket.send('typing', { room_id: room, on: false });
      await until('the report', () => other.named('typing').some(({ on }: any) => !on));
      await post(alice, room, 'after');
      await other.next('message.created', inRoom(room));
      expect(other.named('typing').map(({ on }: any) => on)).toEqual([false]);
    });

    test('a member who stops typing and starts again is reported each time', async () => {
      const room = await newRoom(bob);
      const [socket, other] = [await connect(one, alice), await connect(two, bob)];
      for (const [index, on] of [true, false, true].entries()) {
        await socket.send('typing', { room_id: room, on });
        await until('the report', () => other.named('typing').length === index + 1);
        expect(other.named('typing')[index].on).toBe(on);
      }
    });

    test.each(['roomOf', 'members'] as const)(
      'typing is reported in order where %s is slow',
      async (method) => {
        const room = await newRoom(bob);
        const [socket, other] = [await connect(one, alice), await connect(two, bob)];
        // The sender's process reads the room, the recipient's its members.
        const source = (method === 'roomOf' ? one.get(ChatApi) : two.get(FanoutRepository)) as unknown as {
          [name in typeof method]: (...args: unknown[]) => Promise<unknown>;
        };
        const read = source[method].bind(source);
        const first = Promise.withResolvers<void>();
        const slow = jest.spyOn(source, method).mockImplementationOnce(async (...args) => {
          await first.promise;
          return read(...args);
        });
        const reports = jest.fn();
        two.get(Bus).subscribe('chat.typing', ({ user, on }) => user === alice.id && reports(on));
        try {
          const started = socket.send('typing', { room_id: room, on: true });
          await until('the first read', () => slow.mock.calls.length > 0);
          await socket.send('typing', { room_id: room, on: false });
          await until('the second report', () => reports.mock.lastCall?.[0] === false);
          first.resolve();
          await started;
        } finally {
          slow.mockRestore();
        }
        await post(alice, room, 'after');
        await other.next('message.created', ({ message }) => message.body === 'after');
        await until('the newest state', () => other.named('typing').at(-1)?.on === false);
      },
    );

    test('a client resumes from any position, at any process', async () => {
      const room = await newRoom(bob);
      const gone = await newRoom(bob);
      for (let n = 1; n <= 5; n += 1) await post(alice, room, `${n}`);
      const { messages } = (await bob.api.get(`/chat/rooms/${room}/messages`)).body;
      await alice.api.patch(`/chat/rooms/${room}/messages/${messages[0].id}`, { body: 'edited' });
      await alice.api.delete(`/chat/rooms/${gone}`);
      const socket = await connect(two, bob);
      const state = await socket.send('session.resume', { rooms: { [room]: 3, [gone]: 0 }, limit: 2 });
      expect(state.rooms[room]).toMatchObject({ mod_seq: 5, more: true });
      expect(state.rooms[room].messages.map(({ seq }: any) => seq)).toEqual([4, 5]);
      expect(state.removed).toEqual([gone]);
      expect(state.unread[room]).toBe(5);
      const rest = await socket.send('session.resume', { rooms: { [room]: 5 } });
      expect(rest.rooms[room]).toMatchObject({
        mod_seq: 6,
        more: false,
        messages: [{ seq: 1, body: 'edited' }],
      });
      expect((await socket.send('session.resume', { rooms: { [room]: 6 } })).rooms).toEqual({});
      expect((await socket.send('session.resume', { rooms: {} })).added).toContain(room);
      const invalid = await socket.send('session.resume', { rooms: { x: 1 } });
      expect(invalid).toMatchObject({ ok: false, status: 422, error: 'validation_failed' });
      expect((await socket.send('session.resume', { rooms: { [UNKNOWN]: 1 } })).removed).toEqual([UNKNOWN]);
    });

    test('a resume returns no message after the removal of its user', async () => {
      const room = await newRoom(bob);
      const socket = await connect(one, bob);
      const repository = one.get(FanoutRepository);
      const positions = repository.positions.bind(repository);
      repository.positions = async (ctx) => {
        const found = await positions(ctx);
        await alice.api.delete(`/chat/rooms/${room}/members/${bob.id}`);
        await post(alice, room, 'without you');
        return found;
      };
      try {
        await post(alice, room, 'with you');
        const { rooms } = await socket.send('session.resume', { rooms: { [room]: 0 } });
        expect(JSON.stringify(rooms)).not.toContain('without you');
      } finally {
        repository.positions = positions;
      }
    });

    test('a repeated old request sends no history to the other members', async () => {
      const room = await newRoom(bob);
      const first = text(room, 'first');
      expect((await (await connect(one, alice)).send('message.send', first)).ok).toBe(true);
      await one.sql(ADD_MESSAGES, [alice.tenantId, alice.id, room, 300]);
      const socket = await connect(two, bob);
      await socket.send('session.resume', { rooms: {} });
      const { room_id: _, ...message } = first;
      expect((await alice.api.post(`/chat/rooms/${room}/messages`, message)).body.duplicate).toBe(true);
      await post(alice, room, 'new');
      await socket.next('message.created', (payload) => payload.message.body === 'new');
      expect(socket.named('message.created').filter(inRoom(room))).toHaveLength(1);
    });
  });

  test('a change of a feed is announced with its collection and head', async () => {
    const socket = await connect(two, alice);
    const own = await connect(two, bob);
    const before = (await alice.api.get('/sync/state')).body;
    // The first read of the heads precedes the change.
    await until('the watch of the feeds', async () => {
      await alice.api.post('/notes', { title: 'n' });
      return socket.named('changed').length > 0;
    });
    const { collection, head } = socket.named('changed').at(-1);
    expect([collection, head > before.collections.notes]).toEqual(['notes', true]);
    expect(own.named('changed')).toEqual([]);
  });

  test('waiting requests are woken by the bus, without queries', async () => {
    const { head } = (await bob.api.get('/sync/state')).body;
    const watch = two.get(HeadWatch) as unknown as { polledAt: number };
    const waiting = two.as(bob.token).get(`/sync/state?head=${head}&wait=25`);
    await until('the bus', () => two.get(Bus).listeningSince);
    await until('the first poll', () => watch.polledAt > 0);
    // No further poll.
    watch.polledAt = Number.POSITIVE_INFINITY;
    try {
      await bob.api.post('/notes', { title: 'n' });
      expect((await waiting).body.head).toBe(head + 1);
    } finally {
      watch.polledAt = 0;
    }
  });

  test('a waiting request that is woken by a rolled back change goes on waiting', async () => {
    const { head } = (await bob.api.get('/sync/state')).body;
    const waiting = two.as(bob.token).get(`/sync/state?head=${head}&wait=25`);
    await until('the request', () => two.get(HeadWatch).waiting > 0);
    const advance = `INSERT INTO sync_heads AS counter (tenant_id, user_id, head) VALUES ($1, $2, 1)
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head + 1`;
    const rolledBack = one.get(Db).tx(async (tx) => {
      await tx.query(workspace.statement('', advance), [bob.tenantId, bob.id]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect((await bob.api.get('/sync/state')).body.head).toBe(head);
    await bob.api.post('/notes', { title: 'n' });
    expect((await waiting).body.head).toBe(head + 1);
  });

  test('the bus reconnects, reports one loss, and a client that resumes misses nothing', async () => {
    const room = await newRoom(bob);
    const socket = await connect(two, bob);
    await post(alice, room, 'before');
    await socket.next('message.created', inRoom(room));
    await one.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'workspace bus' AND datname = current_database()`,
    );
    for (let n = 0; n < 5; n += 1) await post(alice, room, `during ${n}`);
    await socket.next('resync');
    const known = Math.max(
      ...socket
        .named('message.created')
        .filter(inRoom(room))
        .map(({ mod_seq }) => mod_seq),
    );
    const resumed = await socket.send('session.resume', { rooms: { [room]: known } });
    const seqs = [
      ...socket
        .named('message.created')
        .filter(inRoom(room))
        .map(({ message }) => message.seq),
      ...(resumed.rooms[room]?.messages ?? []).map(({ seq }: any) => seq),
    ];
    expect(new Set(seqs)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    await post(alice, room, 'later');
    await socket.next('message.created', ({ message }) => message.body === 'later');
    expect(socket.named('resync')).toHaveLength(1);
  });

  test('the example client follows a room over two processes, and misses nothing', async () => {
    const room = await newRoom(bob);
    const token = async () => (await bob.api.post('/auth/socket/token')).body.token;
    const client = new ExampleClient();
    const seqs = () => [...(client.rooms.get(room)?.messages.keys() ?? [])];
    try {
      client.connect(one.base, token);
      await until('the room', () => client.rooms.has(room));
      await post(alice, room);
      await until('the message', () => seqs().length === 1);
      client.disconnect();
      await post(alice, room);
      client.connect(two.base, token);
      const { message } = await client.send(room, randomUUID(), 'from the client');
      await until('all messages', () => seqs().length === 3);
      expect(client.rooms.get(room)?.messages.get(3)).toEqual(message);
      await alice.api.delete(`/chat/rooms/${room}/members/${bob.id}`);
      await until('the removal', () => !client.rooms.has(room));
    } finally {
      client.disconnect();
    }
  });

  test('the stop of a process closes its sockets, and the client continues at another one', async () => {
    const third = await TestApp.start({}, one.databaseUrl);
    const socket = await connect(third, alice);
    await third.stop();
    await until('the end of the socket', () => socket.ended);
    expect(socket.named('session.closing')).toEqual([{ reason: 'restart' }]);
    const next = await connect(two, alice);
    expect((await next.send('session.resume', { rooms: {} })).ok).toBe(true);
    expect(one.get(Db).main.poolState.waiting).toBe(0);
  });
});
