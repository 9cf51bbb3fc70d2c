import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { randomUUID } from 'node:crypto';
import { describeApp } from '../../src/docs/describe-app.js';
import { PresenceDevices } from '../../src/modules/presence/devices/presence-devices.js';
import { SocketEvents } from '../../src/platform/realtime/socket-events.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { TestSocket } from '../support/network/socket.ts';

const committed = JSON.parse(readFileSync(new URL('../../asyncapi.json', import.meta.url), 'utf8'));
const { messages, schemas } = committed.components;
const ajv = new Ajv({ strict: false });
(formats as unknown as (ajv: Ajv) => void)(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Errors of a payload of the message with this id. */
function errorsOf(id: string, payload: unknown): unknown {
  if (!messages[id]) return [`no message ${id}`];
  const validate = compiled.get(id) ?? ajv.compile({ ...messages[id].payload, components: { schemas } });
  compiled.set(id, validate);
  return validate(payload) ? null : validate.errors;
}

describe('the AsyncAPI description', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  test('is that of the code (npm run openapi regenerates it)', async () => {
    expect(JSON.parse(JSON.stringify((await describeApp()).asyncApi))).toEqual(committed);
  });

  test('describes exactly the events that the application accepts', () => {
    const described = Object.keys(committed.operations).filter((id) => id.startsWith('receive.'));
    const registered = app.get(SocketEvents).names.map((name) => `receive.${name}`);
    expect(described.toSorted()).toEqual(registered.toSorted());
  });

  test('every reference exists, and every property has a description or an example', () => {
    const text = JSON.stringify(committed);
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g))
      expect(schemas).toHaveProperty(name!);
    for (const [, id] of text.matchAll(/#\/channels\/socket\/messages\/([\w.]+)/g))
      expect(committed.channels.socket.messages).toHaveProperty([id!]);
    const bare = Object.entries<any>(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries<any>(properties)
        .filter(([, property]) => !JSON.stringify(property).match(/"(?:examples|description|\$ref|enum)"/))
        .map(([field]) => `${name}.${field}`),
    );
    expect(bare).toEqual([]);
  });

  test('payloads of clients and of the server fit it', async () => {
    const [socket, other] = [await TestSocket.open(app, alice), await TestSocket.open(app, bob)];
    const { room } = (await alice.api.post('/chat/rooms', { type: 'group', name: 'r', member_ids: [bob.id] }))
      .body;
    const room_id = room.id;
    const send = async (name: string, payload: any): Promise<any> => {
      expect([name, errorsOf(`${name}.request`, payload)]).toEqual([name, null]);
      const response = await socket.send(name, payload);
      const id = response.ok ? `${name}.ack` : 'rejected';
      expect([name, errorsOf(id, response)]).toEqual([name, null]);
      return response;
    };
    const { message } = await send('message.send', { room_id, client_msg_id: randomUUID(), body: 'hello' });
    const target = { room_id, message_id: message.id };
    await send('message.edit', { ...target, body: 'better', base_mod_seq: 1 });
    await send('message.edit', { ...target, body: 'stale', base_mod_seq: 1 });
    await send('message.react', { ...target, emoji: '👍', on: true });
    await send('message.delete', target);
    await send('room.read', { room_id, seq: 1 });
    await send('typing', { room_id, on: true });
    await send('presence.subscribe', { user_ids: [bob.id] });
    await send('presence.set', { status: 'dnd', text: 'Call', until: '2099-01-01T00:00:00Z' });
    await send('presence.active', { active: true });
    await other.send('presence.set', { status: 'away' });
    await app.get(PresenceDevices).flush();
    await send('room.open', { room_id });
    await send('room.close', { room_id });
    await send('session.resume', { rooms: { [room_id]: 0 }, limit: 10 });
    const { token } = (await alice.api.post('/auth/socket/token')).body;
    await send('auth.refresh', { token });
    await alice.api.delete(`/chat/rooms/${room_id}`);
    for (const name of [
      'room.added',
      'room.removed',
      'message.deleted',
      'room.read',
      'presence',
      'presence.own',
    ])
      await socket.next(name);
    await other.next('typing');
    const received = [...socket.events, ...other.events];
    for (const { name, payload } of received)
      expect([name, errorsOf(`${name}.event`, payload)]).toEqual([name, null]);
    socket.close();
    other.close();
  });
});
