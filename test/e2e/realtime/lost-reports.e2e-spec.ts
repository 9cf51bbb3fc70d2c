import { randomUUID } from 'node:crypto';
import { RoomCatchUp } from '../../../src/modules/chat/messages/room-catch-up.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { Client } from '../../support/client.ts';
import { TestSocket } from '../../support/socket.ts';
import { freePort, ServerProcess } from '../../sync/servers.ts';

/** Hides `pg_notify` from sessions whose search path contains `public` before `pg_catalog`: they commit and report nothing. */
const SILENT = `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(600)'`;
const SILENT_PATH = '-c search_path=public,pg_catalog';

describe('changes of a process that is killed between the commit and the report', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let killed: ServerProcess;
  let socket: TestSocket;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    await app.sql(SILENT);
    killed = new ServerProcess(app.databaseUrl, await freePort(), {
      DATA_DIR: app.dataDir,
      PGOPTIONS: SILENT_PATH,
    });
    await killed.start();
  });
  afterAll(async () => {
    socket?.close();
    await killed?.stop('SIGKILL');
    await app?.stop();
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

    await app.get<RoomCatchUp>(RoomCatchUp).run();
    const change = await socket.next('message.updated', inRoom(edited));
    expect(change).toMatchObject({ prev_mod_seq: first.mod_seq, message: { id: first.id, body: 'changed' } });
    const addition = await socket.next('message.created', inRoom(edited));
    expect(addition).toMatchObject({ prev_mod_seq: change.mod_seq, message: { id: second.id } });
    await socket.next('room.added', inRoom(created));
    await socket.next('room.removed', inRoom(left));
    await socket.next('room.removed', inRoom(deleted));

    const events = socket.events.length;
    await app.get<RoomCatchUp>(RoomCatchUp).run();
    await socket.send('room.close', { room_id: edited });
    expect(socket.events.slice(events)).toEqual([]);
  });
});
