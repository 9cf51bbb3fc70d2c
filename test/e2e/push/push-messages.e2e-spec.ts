import { randomUUID } from 'node:crypto';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { NotificationHousekeeping } from '../../../src/modules/notifications/inbox/notification-housekeeping.js';
import { PresenceDevices } from '../../../src/modules/presence/devices/presence-devices.js';
import { PushSessions } from '../../../src/modules/push/push-sessions.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { PushTest } from '../../support/domains/push.ts';
import { PushService, respond } from '../../support/network/push-service.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { session } from '../../support/sign-in/account.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
/** The time of the day, UTC, so many hours from now. */
const clock = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 16);

describe('push messages', () => {
  let app: TestApp;
  let at: PushTest;
  let alice: TestUser;
  let bob: TestUser;
  let count = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new PushTest(app, await PushService.start());
  });
  afterAll(async () => {
    await app?.stop();
    await at?.service.stop();
  });
  beforeEach(async () => {
    count += 1;
    [alice, bob] = await app.tenant(`push-${count}`, 'alice', 'bob');
  });

  const prefer = async (user: TestUser, preferences: object) =>
    ok(await user.api.put('/settings/notifications', preferences));
  const notificationsOf = async (user: TestUser): Promise<any[]> =>
    ok(await user.api.get('/notifications')).notifications;

  test('announce a notification on each device of its recipient, in words of the recipient', async () => {
    const devices = [await at.subscribe(bob), await at.subscribe(bob)];
    const other = await at.subscribe(alice);
    ok(await bob.api.put('/settings/general-preferences', { language: 'de' }));
    const task = await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [notification] = await notificationsOf(bob);
    for (const { device } of devices) {
      expect(at.messages(device)).toEqual([
        {
          event: 'notification',
          tenant_id: bob.tenantId,
          id: notification.id,
          type: 'task.assigned',
          count: 1,
          title: 'Book the venue',
          text: notification.title,
          url_path: expect.stringContaining(task.id),
        },
      ]);
      const [message] = at.service.of(device);
      expect(message!.headers).toMatchObject({
        urgency: 'normal',
        topic: notification.id.replaceAll('-', ''),
      });
      expect(Number(message!.headers['ttl'])).toBeGreaterThan(80_000);
    }
    expect(at.service.of(other.device)).toEqual([]);
  });

  test.each([
    ['nothing', { title: undefined, text: undefined }],
    ['title', { title: 'Book the venue', text: undefined }],
    ['text', { title: 'Book the venue', text: expect.stringContaining('Book the venue') }],
  ])('contain %s by preference', async (push_content, expected) => {
    await prefer(bob, { push_content });
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [message] = at.messages(device);
    expect({ title: message.title, text: message.text }).toEqual(expected);
  });

  test('are switched off by preference: for a kind, for all, and with the list', async () => {
    const { device } = await at.subscribe(bob);
    for (const off of [
      { types: { 'task.*': { push: false } } },
      { types: { 'task.*': { push: true } }, channels: { push: false } },
      { channels: { push: true, in_app: false } },
    ]) {
      await prefer(bob, off);
      await at.assign(alice, bob, 'Book the venue');
      await at.deliver();
    }
    expect(at.service.of(device)).toEqual([]);
  });

  test('wait for the end of quiet hours', async () => {
    const { device } = await at.subscribe(bob);
    const ranges = [{ from: clock(-1), to: clock(1) }];
    await prefer(bob, { quiet_hours: { tz: 'UTC', ranges } });
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    expect(at.service.of(device)).toEqual([]);
    await prefer(bob, { quiet_hours: { ranges: [] } });
    await at.later();
    expect(at.messages(device)).toHaveLength(1);
  });

  test('are not sent in quiet hours of the whole week', async () => {
    const { device } = await at.subscribe(bob);
    const ranges = [
      { from: '00:00', to: '12:00' },
      { from: '12:00', to: '00:00' },
    ];
    await prefer(bob, { quiet_hours: { tz: 'UTC', ranges } });
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    expect(at.service.of(device)).toEqual([]);
    expect(await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).toEqual([]);
  });

  test('wait for the end of quiet hours that are longer than their lifetime', async () => {
    const { device } = await at.subscribe(bob);
    const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
    const today = new Date().getUTCDay();
    const days = [-1, 0, 1, 2].map((n) => names[(today + n + 7) % 7]);
    const ranges = [
      { from: '00:00', to: '12:00', days },
      { from: '12:00', to: '00:00', days },
    ];
    await prefer(bob, { quiet_hours: { tz: 'UTC', ranges } });
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [row] = await app.sql(
      `SELECT due_at > now() + interval '2 days' AS is_later, expires_at - due_at BETWEEN '86390 s' AND '86410 s' AS is_of_use
         FROM push_deliveries WHERE user_id = $1`,
      [bob.id],
    );
    expect(row).toEqual({ is_later: true, is_of_use: true });
    await prefer(bob, { quiet_hours: { ranges: [] } });
    await at.later();
    expect(at.messages(device)).toHaveLength(1);
  });

  test('are not sent to a device whose session has an open socket', async () => {
    const { device } = await at.subscribe(bob);
    const [row] = await app.sql<{ session_id: string | null }>(
      'SELECT session_id FROM push_subscriptions WHERE user_id = $1',
      [bob.id],
    );
    expect(row!.session_id).not.toBeNull();
    const socket = await TestSocket.open(app, bob);
    await app.get<PresenceDevices>(PresenceDevices).flush();
    await at.assign(alice, bob, 'Seen at once');
    await at.deliver();
    expect(at.service.of(device)).toEqual([]);
    const pending = () => app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id]);
    expect(await pending()).toHaveLength(1);
    // The socket is still open after the time in which dead ones end.
    await app.sql(
      `UPDATE push_deliveries SET expires_at = expires_at - make_interval(secs => 120) WHERE user_id = $1`,
      [bob.id],
    );
    await at.later();
    expect(at.service.of(device)).toEqual([]);
    expect(await pending()).toEqual([]);
    socket.close();
  });

  test.each([
    [1, 'is dead'],
    [0, 'is dead, unless the user has read the notification'],
  ])('are sent %i times when the socket of the device turns out to be gone: it %s', async (times) => {
    const { device } = await at.subscribe(bob);
    const socket = await TestSocket.open(app, bob);
    const devices = app.get<PresenceDevices>(PresenceDevices);
    await devices.flush();
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    await at.later();
    expect(at.service.of(device)).toEqual([]);
    if (times === 0) ok(await bob.api.put('/notifications/read_all'));
    socket.close();
    await app.sql('UPDATE presence_devices SET expires_at = now() WHERE user_id = $1', [bob.id]);
    await at.later();
    expect(at.messages(device)).toHaveLength(times);
  });

  test('follow the rights of the recipient when they are sent', async () => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(503));
    const task = await at.assign(alice, bob, 'Secret');
    await at.deliver();
    expect(at.service.of(device)).toHaveLength(1);
    ok(await alice.api.patch(`/tasks/${task.id}`, { assignees: [], base_revision: task.revision }));
    at.service.on(device, respond(201));
    await at.later();
    expect(at.service.of(device)).toHaveLength(1);
    expect(await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).toEqual([]);
  });

  test('end for a member who was deactivated', async () => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(503));
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    ok(await alice.api.post(`/tenant/members/${bob.id}/deactivate`));
    at.service.on(device, respond(201));
    await at.later();
    expect(at.service.of(device)).toHaveLength(1);
  });

  test('end with the session of the device', async () => {
    const { device } = await at.subscribe(bob);
    await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [bob.id]);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    expect(at.service.of(device)).toEqual([]);
    expect(await app.sql('SELECT FROM push_subscriptions WHERE user_id = $1', [bob.id])).toEqual([]);
  });

  test('subscriptions end when their session is ended, and when its time is over', async () => {
    const { token } = await session(app, bob);
    const other = { ...bob, api: app.as(token) };
    await at.subscribe(bob);
    await at.subscribe(other);
    const subscribed = async () => {
      const rows = await app.sql('SELECT session_id FROM push_subscriptions WHERE user_id = $1', [bob.id]);
      return rows.map(({ session_id }) => session_id);
    };
    const [first, second] = (await subscribed()) as [string, string];
    expect(first).not.toBe(second);
    ok(await bob.api.delete(`/settings/security/sessions/${second}`));
    await until('the end of the subscription', async () => (await subscribed()).length === 1);
    expect(await subscribed()).toEqual([first]);
    const job = () => app.inCells(() => app.get(PushSessions).run());
    await job();
    expect(await subscribed()).toEqual([first]);
    await app.sql('UPDATE sessions SET expires_at = now() - make_interval(secs => 1) WHERE id = $1', [first]);
    await job();
    expect(await subscribed()).toEqual([]);
  });

  test('are withdrawn from all devices when the notification is read on one of them', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [{ id }] = (await notificationsOf(bob)) as [any];
    ok(await bob.api.put(`/notifications/${id}/read`));
    const [, withdrawal] = await at.got(device, 2);
    expect(withdrawal).toEqual({ event: 'dismissed', tenant_id: bob.tenantId, id, type: 'task.assigned' });
    const [first, second] = at.service.of(device);
    expect(second!.headers['topic']).toBe(first!.headers['topic']);
    expect(await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).toEqual([]);
  });

  test('are not withdrawn from devices that must show each message', async () => {
    const { device } = await at.subscribe(bob, { can_dismiss: false });
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    ok(await bob.api.put('/notifications/read_all'));
    await until('the end of the delivery', async () => {
      await at.deliver();
      return (await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).length === 0;
    });
    expect(at.service.of(device)).toHaveLength(1);
  });

  test('come again when a snooze ends', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [{ id }] = (await notificationsOf(bob)) as [any];
    const snooze_until = new Date(Date.now() + HOUR_MS).toISOString();
    ok(await bob.api.put(`/notifications/${id}/lifecycle`, { state: 'snoozed', snooze_until }));
    await at.got(device, 2);
    await app.sql(
      'UPDATE notifications SET snooze_until = now() - make_interval(secs => 1) WHERE user_id = $1',
      [bob.id],
    );
    await app.get<NotificationHousekeeping>(NotificationHousekeeping).wake();
    const messages = await at.got(device, 3);
    expect(messages.map(({ event }) => event)).toEqual(['notification', 'dismissed', 'notification']);
  });

  test('are withdrawn when all notifications are read', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'One');
    await at.assign(alice, bob, 'Two');
    await at.deliver();
    ok(await bob.api.put('/notifications/read_all'));
    const messages = await at.got(device, 4);
    expect(messages.slice(2).map(({ event }) => event)).toEqual(['dismissed', 'dismissed']);
  });

  test('are withdrawn when the notification was read while the message was sent', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    await app.sql(`UPDATE notifications SET state = 'read' WHERE user_id = $1`, [bob.id]);
    await at.later();
    expect((await at.got(device, 2)).map(({ event }) => event)).toEqual(['notification', 'dismissed']);
  });

  test('tell of further causes of a notification together, under the same id', async () => {
    const { device } = await at.subscribe(bob);
    const group = { type: 'group', name: 'Jetty', member_ids: [bob.id] };
    const { room } = ok(await alice.api.post('/chat/rooms', group), 201);
    const say = async (body: string) => {
      ok(await alice.api.post(`/chat/rooms/${room.id}/messages`, { client_msg_id: randomUUID(), body }), 201);
      await app.get<ChatNotifier>(ChatNotifier).run();
      await at.deliver();
    };
    const told = () => at.messages(device).filter(({ type }) => type === 'chat.message');
    await say('One');
    await say('Two');
    await say('Three');
    await at.later();
    const counts = told().map(({ count }) => count);
    expect([counts[0], counts.at(-1)]).toEqual([1, 3]);
    expect(new Set(told().map(({ id }) => id)).size).toBe(1);
  });

  test('are withdrawn when the notification was read before a further cause was told', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    // As a further cause leaves the delivery.
    await app.sql(
      `UPDATE push_deliveries SET state = 'pending', due_at = now() + interval '1 hour' WHERE user_id = $1`,
      [bob.id],
    );
    ok(await bob.api.put('/notifications/read_all'));
    await at.later();
    expect((await at.got(device, 2)).map(({ event }) => event)).toEqual(['notification', 'dismissed']);
  });

  test('are forgotten after a week, and then not withdrawn', async () => {
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    await app.sql(
      `UPDATE push_deliveries SET created_at = now() - make_interval(days => 8), due_at = 'infinity' WHERE user_id = $1`,
      [bob.id],
    );
    await app.sql(`DELETE FROM job_runs WHERE name = 'push.forget-deliveries'`);
    await app.get<PeriodicJobs>(PeriodicJobs).runDue();
    ok(await bob.api.put('/notifications/read_all'));
    expect(await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).toEqual([]);
    expect(at.service.of(device)).toHaveLength(1);
  });
});
