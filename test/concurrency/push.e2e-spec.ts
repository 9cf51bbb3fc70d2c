import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { ChatNotifier } from '../../src/modules/chat/chat-notifier.js';
import { PushDispatcher } from '../../src/modules/push/sending/push-dispatcher.js';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { ok } from '../support/domains/forms.ts';
import { PushTest } from '../support/domains/push.ts';
import { type PushDevice, PushService, respond } from '../support/network/push-service.ts';
import { until } from '../support/until.ts';

const PATH = '/notifications/push-subscriptions';

/** Two applications on one database. */
describe('concurrent work on push messages', () => {
  let one: TestApp;
  let two: TestApp;
  let at: PushTest;
  let alice: TestUser;
  let bob: TestUser;
  let count = 0;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    at = new PushTest(one, await PushService.start());
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
    await at?.service.stop();
  });
  beforeEach(async () => {
    count += 1;
    [alice, bob] = await one.tenant(`push-${count}`, 'alice', 'bob');
  });

  const deliveries = () => one.sql('SELECT FROM push_deliveries WHERE tenant_id = $1', [alice.tenantId]);

  /** From now on, requests to a device wait until the test responds. */
  const hold = (device: PushDevice): ServerResponse[] => {
    const held: ServerResponse[] = [];
    at.service.on(device, (response) => void held.push(response));
    return held;
  };

  test('requests of one device in two processes make one subscription', async () => {
    const clients = [one.as(bob.token), two.as(bob.token)];
    const { subscription } = at.service.device();
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => clients[n % 2]!.post(PATH, subscription)),
    );
    expect(new Set(made.map((response) => ok(response, 201).push_subscription.id)).size).toBe(1);
    expect(await at.subscriptions(bob)).toHaveLength(1);
  });

  test('two processes send each message once', async () => {
    const { device } = await at.subscribe(bob);
    for (let n = 0; n < 20; n += 1) await at.assign(alice, bob, `Task ${n}`);
    await one.get<OutboxWorker>(OutboxWorker).drain();
    await Promise.all([one, two].map((app) => app.get<PushDispatcher>(PushDispatcher).drain()));
    await until('all messages', async () => at.service.of(device).length >= 20);
    const ids = at.messages(device).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  });

  test('a subscription that ends while a message is sent takes the delivery with it', async () => {
    const { device, id } = await at.subscribe(bob);
    const held = hold(device);
    await at.assign(alice, bob, 'Book the venue');
    const delivering = at.deliver();
    await at.service.received(device, 1);
    ok(await bob.api.delete(`${PATH}/${id}`));
    respond(201)(held[0]!);
    await delivering;
    expect(await at.subscriptions(bob)).toEqual([]);
    expect(await deliveries()).toEqual([]);
  });

  test('notifications and ends of subscriptions at the same time: no notification is lost, no delivery is left', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await at.subscribe(bob);
      await at.assign(alice, bob, `Task ${round}`);
      const [, ended] = await Promise.all([at.deliver(), bob.api.delete(`${PATH}/${id}`)]);
      ok(ended);
    }
    await at.deliver();
    expect(ok(await bob.api.get('/notifications')).notifications).toHaveLength(5);
    expect(await deliveries()).toEqual([]);
  });

  test('a message that was sent during a further cause is withdrawn, when the notification was read before the next message', async () => {
    const { device } = await at.subscribe(bob);
    const group = { type: 'group', name: 'Jetty', member_ids: [bob.id] };
    const { room } = ok(await alice.api.post('/chat/rooms', group), 201);
    const say = async (body: string) => {
      ok(await alice.api.post(`/chat/rooms/${room.id}/messages`, { client_msg_id: randomUUID(), body }), 201);
      await one.get<ChatNotifier>(ChatNotifier).run();
      await one.get<OutboxWorker>(OutboxWorker).drain();
    };
    // Without those that the room itself causes.
    await at.deliver();
    await one.sql('DELETE FROM push_deliveries WHERE user_id = $1', [bob.id]);
    const before = at.service.of(device).length;
    const held = hold(device);
    await say('One');
    const delivering = at.deliver();
    await at.service.received(device, before + 1);
    await say('Two');
    at.service.on(device, respond(201));
    respond(201)(held[0]!);
    await delivering;
    ok(await bob.api.put('/notifications/read_all'));
    await at.later();
    const messages = await at.got(device, before + 2);
    expect(messages.slice(before).map(({ event }) => event)).toEqual(['notification', 'dismissed']);
  });
});
