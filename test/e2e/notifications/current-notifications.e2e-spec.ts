import { v7 as uuidv7 } from 'uuid';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { NotificationsApi } from '../../../src/modules/notifications/notifications.api.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';

const MEMBERS = ['bob', 'carol', 'dave', 'erin', 'frank'];

describe('the present notifications of several recipients', () => {
  let app: TestApp;
  let alice: TestUser;
  let others: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, ...others] = await app.tenant('current', 'alice', ...MEMBERS);
  });
  afterAll(() => app?.stop());

  test('are those that each would get alone, with as many statements as for fewer of them', async () => {
    const ids = others.map(({ id }) => id);
    const [, second, third] = others as [TestUser, TestUser, TestUser];
    const rooms = [];
    for (const name of ['One', 'Two'])
      rooms.push(
        ok(await alice.api.post('/chat/rooms', { type: 'group', name, member_ids: ids }), 201).room.id,
      );
    const say = async (room: string, mentions: string[]) =>
      ok(
        await alice.api.post(`/chat/rooms/${room}/messages`, {
          client_msg_id: uuidv7(),
          body: 'Hello',
          mentions,
        }),
        201,
      );
    for (const room of rooms) for (const mentions of [[], [second.id], []]) await say(room, mentions);
    const tasks: string[] = [];
    for (const title of ['Plan', 'Report'])
      tasks.push(ok(await alice.api.post('/tasks', { title, assignees: ids }), 201).task.id);
    await app.inCells(() => app.get<ChatNotifier>(ChatNotifier).run());
    await app.get<OutboxWorker>(OutboxWorker).drain();
    // What one recipient has read, and what others may no longer read.
    ok(await second.api.put('/notifications/read_all'));
    ok(await alice.api.delete(`/chat/rooms/${rooms[1]}/members/${third.id}`));
    await say(rooms[0], ids);
    await app.inCells(() => app.get<ChatNotifier>(ChatNotifier).run());
    await app.get<OutboxWorker>(OutboxWorker).drain();

    const api = app.get<NotificationsApi>(NotificationsApi);
    const rows = await app.sql(
      'SELECT user_id, id FROM notifications WHERE user_id = ANY ($1) ORDER BY user_id, seq',
      [ids],
    );
    const wanted = rows.map(({ user_id: userId, id }) => ({ userId, id }));
    const together = await api.readCurrent(alice.tenantId!, wanted, 'test');
    const alone = [];
    for (const each of wanted) alone.push(...(await api.readCurrent(alice.tenantId!, [each], 'test')));
    expect(JSON.stringify(together)).toBe(JSON.stringify(alone));
    const seen = together.flatMap((view, n) =>
      view ? [[wanted[n]!.userId, view.notification.subject?.title]] : [],
    );
    for (const user of others) {
      const titles = new Set(seen.filter(([id]) => id === user.id).map(([, title]) => title));
      const isOut = user === third;
      expect([titles.has('One'), titles.has('Two'), titles.has('Plan')]).toEqual([
        true,
        user !== second && !isOut,
        user !== second,
      ]);
    }

    const tripsOf = async (users: readonly TestUser[]) => {
      const db = app.get<Db>(Db);
      const before = db.roundTrips;
      const own = wanted.filter(({ userId }) => users.some(({ id }) => id === userId));
      await api.readCurrent(alice.tenantId!, own, 'test');
      return db.roundTrips - before;
    };
    // Jobs run statements too, now and then.
    const fewest = async (users: readonly TestUser[]) => {
      const trips = [];
      for (let n = 0; n < 5; n += 1) trips.push(await tripsOf(users));
      return Math.min(...trips);
    };
    expect(await fewest(others)).toBe(await fewest(others.slice(0, 3)));

    // Those that have ended are dismissed in one transaction.
    const writers = async () =>
      app.sql(
        `SELECT count(DISTINCT user_id)::int AS users, count(DISTINCT xmin::text)::int AS transactions FROM notifications
          WHERE state = 'dismissed' AND subject_id = $1`,
        [tasks[1]],
      );
    ok(await alice.api.delete(`/tasks/${tasks[1]}`, { base_revision: 1 }));
    await api.readCurrent(alice.tenantId!, wanted, 'test');
    expect(await writers()).toEqual([{ users: others.length, transactions: 1 }]);
  });
});
