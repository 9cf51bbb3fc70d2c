import { randomUUID } from 'node:crypto';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { CatchUp } from '../../../src/platform/realtime/catch-up.js';
import { inDatabase } from '../../support/database/database.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { Client } from '../../support/network/client.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { freePort, ServerProcess } from '../../sync/servers.ts';

/** Hides `pg_notify` from sessions whose search path contains `public` before `pg_catalog`: they commit and report nothing. */
const SILENT = `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(600)'`;
const SILENT_PATH = '-c search_path=public,pg_catalog';

describe('changes of a process that is killed between the commit and the report', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let alice: TestUser;
  let bob: TestUser;
  let killed: ServerProcess;
  let socket: TestSocket;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    // The tests run `CatchUp` themselves. Its timer would find the changes at any time.
    await app.get(CatchUp).onModuleDestroy();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    await inDatabase(app.databaseUrl, SILENT);
  });
  beforeEach(async () => {
    killed = new ServerProcess(app.databaseUrl, await freePort(), {
      ...livekit.settings,
      DATA_DIR: app.dataDir,
      PGOPTIONS: SILENT_PATH,
    });
    await killed.start();
  });
  afterEach(async () => {
    socket?.close();
    await killed?.stop('SIGKILL');
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
  });

  const newRoom = async (api: Client, name: string): Promise<string> => {
    const { status, body } = await api.post('/chat/rooms', { type: 'group', name, member_ids: [bob.id] });
    expect(status).toBe(201);
    return body.room.id;
  };
  const send = async (api: Client, room: string, body: string): Promise<any> => {
    const sent = await api.post(`/chat/rooms/${room}/messages`, { client_msg_id: randomUUID(), body });
    expect(sent.status).toBe(201);
    return sent.body.message;
  };
  const inRoom = (room: string) => (payload: any) => payload.room_id === room;

  test('reach the sockets of other processes', async () => {
    const silent = new Client(killed.base, alice.token);
    const [edited, left, deleted] = [
      await newRoom(alice.api, 'edited'),
      await newRoom(alice.api, 'left'),
      await newRoom(alice.api, 'deleted'),
    ];
    const first = await send(alice.api, edited, 'first');
    socket = await TestSocket.open(app, bob);
    const resumed = await socket.send('session.resume', { rooms: {} });
    expect(resumed.added.toSorted()).toEqual([edited, left, deleted].toSorted());

    await silent.patch(`/chat/rooms/${edited}/messages/${first.id}`, { body: 'changed' });
    const second = await send(silent, edited, 'second');
    const created = await newRoom(silent, 'created');
    await send(silent, created, 'in the new room');
    await silent.delete(`/chat/rooms/${left}/members/${bob.id}`);
    await silent.delete(`/chat/rooms/${deleted}`);
    await killed.stop('SIGKILL');
    expect(socket.events.filter(({ payload }) => payload.room_id)).toEqual([]);

    await app.get(CatchUp).run();
    const change = await socket.next('message.updated', inRoom(edited));
    expect(change).toMatchObject({ prev_mod_seq: first.mod_seq, message: { id: first.id, body: 'changed' } });
    const addition = await socket.next('message.created', inRoom(edited));
    expect(addition).toMatchObject({ prev_mod_seq: change.mod_seq, message: { id: second.id } });
    await socket.next('room.added', inRoom(created));
    await socket.next('room.removed', inRoom(left));
    await socket.next('room.removed', inRoom(deleted));

    const ofRooms = () => socket.events.filter(({ payload }) => payload.room_id);
    const events = ofRooms();
    await app.get(CatchUp).run();
    await socket.send('room.close', { room_id: edited });
    expect(ofRooms()).toEqual(events);
  });

  test('of notifications and calls reach the sockets of other processes, also after the listening connection was lost', async () => {
    const silent = new Client(killed.base, alice.token);
    const room = await newRoom(alice.api, 'calls');
    const create = async (api: Client): Promise<string> => {
      const { status, body } = await api.post('/call/rooms', { room_id: room });
      expect(status).toBe(201);
      return body.room.id;
    };
    await alice.api.post('/tasks', { title: 'Report', assignees: [bob.id] });
    await app.get(OutboxWorker).drain();
    const {
      body: {
        notifications: [assigned],
      },
    } = await bob.api.get('/notifications?type=task.assigned');
    socket = await TestSocket.open(app, bob);
    // Only the events of this test: other notifications may arrive at any time.
    const received = () =>
      socket.events.filter(
        ({ name, payload }) => name.startsWith('call.') || payload.notification?.id === assigned.id,
      );
    await app.get(CatchUp).run();
    await socket.send('presence.active', { active: true });
    socket.events.length = 0;

    await new Client(killed.base, bob.token).put(`/notifications/${assigned.id}/read`);
    const first = await create(silent);
    await socket.send('presence.active', { active: true });
    expect(received()).toEqual([]);

    const of = (id: string) => (payload: any) => payload.call?.id === id;
    const ofAssigned = ({ notification }: any) => notification.id === assigned.id;
    await app.get(CatchUp).run();
    const { notification } = await socket.next('notification', ofAssigned);
    expect(notification.state).toBe('read');
    expect((await socket.next('call.started', of(first))).call.state).toBe('live');

    await new Client(killed.base, bob.token).put(`/notifications/${assigned.id}/read`, { read: false });
    await silent.post(`/call/${first}/end`);
    await killed.stop('SIGKILL');
    socket.events.length = 0;
    await app.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'workspace bus' AND datname = current_database()`,
    );
    await socket.next('resync');
    const returned = await socket.next('notification', ofAssigned);
    expect(returned.notification.state).toBe('unread');
    expect((await socket.next('call.ended', of(first))).call.state).toBe('ended');

    const second = await create(alice.api);
    await socket.next('call.started', of(second));
    const events = received();
    await app.get(CatchUp).run();
    await socket.send('presence.active', { active: true });
    expect(received()).toEqual(events);
  });
});
