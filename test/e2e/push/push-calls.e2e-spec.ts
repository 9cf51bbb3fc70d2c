import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { PushTest } from '../../support/domains/push.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { type PushDevice, PushService } from '../../support/network/push-service.ts';

describe('push messages of calls', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let at: PushTest;
  let alice: TestUser;
  let bob: TestUser;
  let room: string;
  let device: PushDevice;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    at = new PushTest(app, await PushService.start());
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    const body = { type: 'group', name: 'Offsite', member_ids: [bob.id] };
    room = ok(await alice.api.post('/chat/rooms', body), 201).room.id;
  });
  afterAll(async () => {
    await app?.stop();
    await at?.service.stop();
    await livekit?.stop();
  });
  beforeEach(async () => {
    await at.deliver();
    await app.sql('DELETE FROM push_subscriptions');
    await app.sql('DELETE FROM notifications');
    ({ device } = await at.subscribe(bob));
  });

  const startCall = async (): Promise<string> => {
    const { room: call } = ok(await alice.api.post('/call/rooms', { room_id: room, title: 'Budget' }), 201);
    await at.deliver();
    return call.id;
  };
  const end = async (call: string) => ok(await alice.api.post(`/call/${call}/end`));
  const rings = () => at.messages(device).filter(({ type }) => type === 'call.started');

  test('ring with high urgency for less than a minute', async () => {
    const call = await startCall();
    const [message] = at.service.of(device);
    expect(rings()).toMatchObject([{ event: 'notification', title: 'Budget' }]);
    expect(message!.headers['urgency']).toBe('high');
    expect(Number(message!.headers['ttl'])).toBeLessThanOrEqual(45);
    await end(call);
  });

  test('are withdrawn when the call is declined or answered on another device, and when it ends', async () => {
    const answers: ((call: string) => Promise<unknown>)[] = [
      (call) => bob.api.post(`/call/${call}/decline`),
      async (call) => {
        await livekit.join((await bob.api.post(`/call/tokens/${call}/mint`)).body.token);
        await livekit.webhooks.settled();
      },
      end,
    ];
    for (const [n, answer] of answers.entries()) {
      ({ device } = await at.subscribe(bob));
      const call = await startCall();
      await at.later();
      expect(rings()).toHaveLength(1);
      await answer(call);
      await at.later();
      expect([n, rings().map(({ event }) => event)]).toEqual([n, ['notification', 'dismissed']]);
      if (n < 2) await end(call);
    }
  });

  test('are withdrawn after the ring although the call goes on', async () => {
    const call = await startCall();
    await app.sql('UPDATE push_deliveries SET expires_at = now() - make_interval(secs => 1)');
    await at.later();
    expect(rings().map(({ event }) => event)).toEqual(['notification', 'dismissed']);
    await end(call);
  });
});
