import { randomUUID } from 'node:crypto';
import { createClient, unwrap, type WorkspaceClient } from '@workspace-backend/client';
import {
  type RoomChanges,
  SocketError,
  type SocketOptions,
  WorkspaceSocket,
} from '@workspace-backend/client/sockets';
import { UserConnections } from '../../src/platform/realtime/user-connections.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

describe('the sockets of the client library', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  const open: WorkspaceSocket[] = [];

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });

  const clientOf = (user: TestUser, fetch?: (request: Request) => Promise<Response>): WorkspaceClient =>
    createClient({ url: app.base, token: () => user.token, fetch });
  const socketOf = (client: WorkspaceClient, options?: SocketOptions) => {
    const socket = new WorkspaceSocket(client, options);
    open.push(socket);
    const changes: RoomChanges[] = [];
    socket.on('messages', (change) => changes.push(change));
    return {
      socket,
      bodies: () => changes.flatMap(({ messages }) => messages.map(({ body }) => body)),
      changes,
    };
  };
  const connected = (socket: WorkspaceSocket) =>
    until('the socket to connect', () => socket.state === 'connected');
  const newRoom = async () => {
    const body = { type: 'group' as const, name: 'Planning', member_ids: [bob.id] };
    return unwrap(await clientOf(alice).POST('/chat/rooms', { body })).room;
  };
  const say = async (roomId: string, body: string) => {
    const message = { client_msg_id: randomUUID(), body };
    const params = { path: { id: roomId } };
    unwrap(await clientOf(alice).POST('/chat/rooms/{id}/messages', { params, body: message }));
  };

  test('deliver the messages of tracked rooms, in order and once', async () => {
    const room = await newRoom();
    const { socket, bodies } = socketOf(clientOf(bob));
    socket.track(room.id, room.mod_seq);
    socket.open();
    await connected(socket);
    for (const body of ['one', 'two', 'three']) await say(room.id, body);
    await until('three messages', () => bodies().length >= 3);
    expect(bodies()).toEqual(['one', 'two', 'three']);
  });

  test('deliver what was missed, from the stored position', async () => {
    const room = await newRoom();
    const first = socketOf(clientOf(bob));
    first.socket.track(room.id, room.mod_seq);
    first.socket.open();
    await connected(first.socket);
    await say(room.id, 'seen');
    await until('the first message', () => first.changes.length > 0);
    const position = first.changes.at(-1)!.mod_seq;
    first.socket.close();
    expect(first.socket.state).toBe('closed');
    for (let n = 0; n < 3; n += 1) await say(room.id, `missed ${n}`);
    const second = socketOf(clientOf(bob));
    second.socket.track(room.id, position);
    second.socket.open();
    await until('the missed messages', () => second.bodies().length >= 3);
    expect(second.bodies()).toEqual(['missed 0', 'missed 1', 'missed 2']);
  });

  test('resume more rooms than one event can name', async () => {
    const room = await newRoom();
    const { socket, bodies } = socketOf(clientOf(bob));
    const removed = new Set<string>();
    socket.on('room.removed', ({ room_id }) => removed.add(room_id));
    for (let n = 0; n < 2_000; n += 1) socket.track(randomUUID(), Number.MAX_SAFE_INTEGER);
    socket.track(room.id, room.mod_seq);
    await say(room.id, 'missed');
    socket.open();
    await until('the message', () => bodies().length > 0);
    expect(bodies()).toEqual(['missed']);
    expect(removed.size).toBe(2_000);
    expect(socket.state).toBe('connected');
  });

  test('report rooms of the user that are not tracked, once', async () => {
    const room = await newRoom();
    const { socket } = socketOf(clientOf(bob));
    const added: string[] = [];
    socket.on('room.added', ({ room_id }) => added.push(room_id));
    socket.open();
    await until('the room', () => added.includes(room.id));
    expect(added.filter((id) => id === room.id)).toHaveLength(1);
  });

  test('send events, with typed acknowledgements and errors', async () => {
    const room = await newRoom();
    const { socket } = socketOf(clientOf(alice));
    const event = { room_id: room.id, client_msg_id: randomUUID(), body: 'by socket' };
    await expect(socket.request('message.send', event)).rejects.toMatchObject({ code: 'disconnected' });
    socket.open();
    await connected(socket);
    const { message, duplicate } = await socket.request('message.send', event);
    expect([message.body, duplicate]).toEqual(['by socket', false]);
    expect((await socket.request('message.send', event)).duplicate).toBe(true);
    const unknown = socket.request('room.read', { room_id: randomUUID(), seq: 1 });
    await expect(unknown).rejects.toBeInstanceOf(SocketError);
    await expect(unknown).rejects.toMatchObject({ status: 404 });
  });

  test('report presence, and changed collections', async () => {
    const { socket } = socketOf(clientOf(bob));
    const statuses: string[] = [];
    const collections: string[] = [];
    socket.on('presence', ({ user_id, status }) => user_id === alice.id && statuses.push(status));
    socket.on('changed', ({ collection }) => collections.push(collection));
    socket.watchPresence([alice.id]);
    socket.open();
    await connected(socket);
    await until('the presence of the start', () => statuses.length > 0);
    const other = socketOf(clientOf(alice)).socket;
    other.open();
    await connected(other);
    await other.request('presence.set', { status: 'dnd' });
    await until('the new status', () => statuses.includes('dnd'));
    await other.request('presence.set', { status: 'online' });
    unwrap(await clientOf(bob).POST('/notes', { body: { title: 'Changed' } }));
    await until('the collection', () => collections.includes('notes'));
  });

  test('read the same over HTTP while there is no socket, and return to it', async () => {
    const room = await newRoom();
    let isBlocked = true;
    const withoutSockets = async (request: Request): Promise<Response> => {
      if (isBlocked && request.url.endsWith('/auth/socket/token')) throw new TypeError('blocked');
      return fetch(request);
    };
    const { socket, bodies } = socketOf(clientOf(bob, withoutSockets), { pollAfterMs: 0, pollEveryMs: 20 });
    const collections: string[] = [];
    const users: string[] = [];
    socket.on('changed', ({ collection }) => collections.push(collection));
    socket.on('presence', ({ user_id }) => users.push(user_id));
    socket.track(room.id, room.mod_seq);
    socket.watchPresence([alice.id]);
    socket.open();
    await until('polling', () => socket.state === 'polling' && users.includes(alice.id));
    await say(room.id, 'polled');
    unwrap(await clientOf(bob).POST('/notes', { body: { title: 'Polled' } }));
    await until('the message and the note', () => bodies().length > 0 && collections.includes('notes'));
    isBlocked = false;
    socket.retryNow();
    await connected(socket);
    await say(room.id, 'by socket');
    await until('the second message', () => bodies().length >= 2);
    expect(bodies()).toEqual(['polled', 'by socket']);
  });

  test('connect again after the server closed them', async () => {
    const room = await newRoom();
    const { socket, bodies } = socketOf(clientOf(bob));
    const states: string[] = [];
    socket.on('state', (state) => states.push(state));
    socket.track(room.id, room.mod_seq);
    socket.open();
    await connected(socket);
    for (const connection of app.get<UserConnections>(UserConnections).all) connection.close('restart');
    await until('the second connection', () => states.filter((state) => state === 'connected').length === 2);
    await say(room.id, 'after');
    await until('the message', () => bodies().includes('after'));
  });
});
