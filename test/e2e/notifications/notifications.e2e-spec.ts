import { jest } from '@jest/globals';
import { NotificationHousekeeping } from '../../../src/modules/notifications/inbox/notification-housekeeping.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestSocket } from '../../support/network/socket.ts';
import { MARKER, NotificationTest } from '../../support/domains/notifications.ts';

describe('notifications', () => {
  const at = NotificationTest.use();

  describe('rights', () => {
    test('the title of a revoked object appears nowhere', async () => {
      const { id } = await at.note(MARKER);
      await at.invite(id, [at.dave]);
      await at.drain();
      await at.invite(id, []);
      await at.mailDue();
      expect(at.relay.received).toEqual([]);
      await at.invite(id, [at.dave]);
      await at.drain();
      await at.invite(id, []);
      const socket = await TestSocket.open(at.app, at.dave);
      try {
        const { status, text } = await at.dave.api.get('/notifications');
        expect([status, text.includes(MARKER)]).toEqual([200, false]);
        expect(JSON.parse(text)).toMatchObject({ notifications: [], unread_count: 0 });
        const { notification } = await socket.next('notification');
        expect(notification).toMatchObject({
          title: 'This notification is about something that you can no longer open.',
          subject: { id, title: null },
          url_path: null,
          state: 'dismissed',
        });
        expect(JSON.stringify(socket.events)).not.toContain(MARKER);
      } finally {
        socket.socket.close();
      }
    });

    test('notifications of other users and workspaces are unknown', async () => {
      await at.task();
      const { id } = await at.only();
      for (const user of [at.alice, at.carol, at.olaf]) {
        for (const [method, path, body] of [
          ['PUT', 'read', {}],
          ['PUT', 'lifecycle', { state: 'dismissed' }],
          ['PUT', 'lifecycle', { state: 'nonsense' }],
          ['PATCH', 'lifecycle', { snooze_until: new Date(Date.now() + 1e6).toISOString() }],
        ] as const) {
          const { status } = await user.api.request(method, `/notifications/${id}/${path}`, { body });
          expect(status).toBe(404);
        }
        await user.api.put('/notifications/read_all', {});
      }
      expect((await at.only()).state).toBe('unread');
    });
  });

  describe('the list', () => {
    test('pages, filters and counts', async () => {
      for (let n = 0; n < 5; n += 1) await at.task(`Task ${n}`);
      await at.invite((await at.note('Plan')).id, [at.bob]);
      const all = (await at.listOf()).notifications;
      expect(all).toHaveLength(6);
      const paged: unknown[] = [];
      let next: string | null = '';
      while (next !== null) {
        const page: any = await at.listOf(at.bob, `?limit=2${next && `&cursor=${next}`}`);
        paged.push(...page.notifications);
        next = page.next;
      }
      expect(paged).toEqual(all);
      const shared = all.find(({ type }: any) => type === 'note.shared');
      const tasks = all.filter(({ type }: any) => type === 'task.assigned');
      const count = async (query: string) => (await at.listOf(at.bob, query)).notifications.length;
      await at.bob.api.put(`/notifications/${shared.id}/lifecycle`, { state: 'archived' });
      await at.bob.api.put(`/notifications/${tasks[0].id}/read`);
      await at.bob.api.put(`/notifications/${tasks[1].id}/lifecycle`, { state: 'dismissed' });
      expect(await count('')).toBe(4);
      expect(await count('?unread=true')).toBe(3);
      expect(await count('?state=unread')).toBe(3);
      expect(await count('?state=archived')).toBe(1);
      expect(await count('?state=archived&state=read')).toBe(2);
      expect(await count('?type=note.shared&state=archived')).toBe(1);
      expect(await count('?type=task.*')).toBe(4);
      expect(await count('?type=note.shared')).toBe(0);
      expect((await at.listOf()).unread_count).toBe(3);
      expect((await at.listOf()).unseen_count).toBe(3);
      for (const query of ['?state=dismissed', '?type=x', '?unread=perhaps', '?cursor=x', '?limit=0'])
        expect((await at.bob.api.get(`/notifications${query}`)).status).toBe(422);
    });

    test('read_all leaves what arrives after the given position, and other kinds', async () => {
      await at.task('One');
      await at.task('Two');
      const [newest, oldest] = (await at.listOf()).notifications;
      const one = await at.bob.api.put('/notifications/read_all', { before: oldest.seq });
      expect(one.body).toEqual({ updated: 1, unread_count: 1, unseen_count: 1 });
      const none = await at.bob.api.put('/notifications/read_all', { type: 'note.shared' });
      expect(none.body.updated).toBe(0);
      const early = await at.bob.api.put('/notifications/read_all', { before: '2020-01-01T00:00:00Z' });
      expect(early.body.updated).toBe(0);
      const rest = await at.bob.api.put('/notifications/read_all');
      expect(rest.body).toEqual({ updated: 1, unread_count: 0, unseen_count: 0 });
      expect((await at.listOf()).notifications.map(({ id }: any) => id)).toEqual([newest.id, oldest.id]);
      for (const body of [{ before: -1 }, { before: 'x' }, { before: null }, { type: 'a b' }])
        expect((await at.bob.api.put('/notifications/read_all', body)).status).toBe(422);
    });
  });

  describe('snooze', () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

    test('a snooze that has ended is over for the list, the counts and a change, before the job', async () => {
      await at.task('Late');
      await at.drain();
      const { id } = await at.only();
      const path = `/notifications/${id}/lifecycle`;
      const reads = [
        () => at.bob.api.get('/notifications?unread=true').then(({ body }) => body.notifications[0].id),
        () => at.bob.api.put(`/notifications/${id}/read`).then(({ body }) => body.notification.id),
        () => at.bob.api.put('/notifications/read_all').then(({ body }) => body.updated === 1 && id),
      ];
      for (const read of reads) {
        expect((await at.bob.api.put(path, { state: 'snoozed', snooze_until: inDays(1) })).status).toBe(200);
        await at.app.sql(`UPDATE notifications SET snooze_until = now() - interval '1 s' WHERE id = $1`, [
          id,
        ]);
        expect(await read()).toBe(id);
      }
    });

    test('a snoozed notification returns once, unread, at the top', async () => {
      await at.task('First');
      const { id } = await at.only();
      await at.task('Second');
      await at.drain();
      const path = `/notifications/${id}/lifecycle`;
      const until = inDays(1);
      const { body } = await at.bob.api.put(path, { state: 'snoozed', snooze_until: until });
      expect(body.notification).toMatchObject({ state: 'snoozed', snooze_until: until });
      expect((await at.listOf()).notifications).toHaveLength(1);
      expect((await at.bob.api.patch(path, { snooze_until: inDays(2) })).status).toBe(200);
      await at.app.sql(`UPDATE notifications SET snooze_until = now() - interval '1 s' WHERE id = $1`, [id]);
      await Promise.all(
        [at.app, at.second].map((each) =>
          each.get<NotificationHousekeeping>(NotificationHousekeeping).wake(),
        ),
      );
      const { notifications } = await at.listOf();
      expect(notifications.map(({ state, title }: any) => [state, title.slice(-16, -8)])).toHaveLength(2);
      expect(notifications[0]).toMatchObject({ id, state: 'unread', snooze_until: null, seen_at: null });
      expect(new Set(notifications.map(({ seq }: any) => seq)).size).toBe(2);
      expect((await at.bob.api.patch(path, { snooze_until: inDays(2) })).body.error).toBe(
        'invalid_transition',
      );
    });

    test('bad times and misplaced fields are rejected', async () => {
      await at.task();
      const { id } = await at.only();
      for (const body of [
        { state: 'snoozed' },
        { state: 'snoozed', snooze_until: inDays(91) },
        { state: 'snoozed', snooze_until: inDays(-1) },
        { state: 'snoozed', snooze_until: 'tomorrow' },
        { state: 'read', snooze_until: inDays(1) },
        { state: 'none' },
        {},
      ])
        expect((await at.bob.api.put(`/notifications/${id}/lifecycle`, body)).status).toBe(422);
      expect((await at.bob.api.patch(`/notifications/${id}/lifecycle`, {})).status).toBe(422);
      expect((await at.bob.api.put('/notifications/x/read')).status).toBe(422);
      expect((await at.only()).state).toBe('unread');
    });

    test('old notifications are deleted', async () => {
      await at.task('Old');
      await at.task('New');
      const [, old] = (await at.listOf()).notifications;
      await at.app.sql(`UPDATE notifications SET updated_at = now() - interval '181 days' WHERE id = $1`, [
        old.id,
      ]);
      await at.app.get<NotificationHousekeeping>(NotificationHousekeeping).expire();
      expect((await at.only()).id).not.toBe(old.id);
    });

    test('dismissed notifications are deleted after 30 days, and the search for them reads few others', async () => {
      await at.task();
      const { id } = await at.only();
      await at.bob.api.put(`/notifications/${id}/lifecycle`, { state: 'dismissed' });
      // From 31 to 170 days old.
      await at.app.sql(
        `INSERT INTO notifications (tenant_id, user_id, id, seq, type, data, shown, state, updated_at)
         SELECT tenant_id, user_id, gen_random_uuid(), seq + n, type, data, shown, 'read', now() - make_interval(days => 31, mins => 10 * n)
           FROM notifications, generate_series(1, 20000) AS n WHERE id = $1`,
        [id],
      );
      await at.app.sql('ANALYZE notifications');
      const housekeeping = at.app.get<NotificationHousekeeping>(NotificationHousekeeping);
      const query = jest.spyOn(Database.prototype, 'query');
      await at.app.inCells(() => housekeeping.expire());
      const deletions = query.mock.calls.filter(([{ text }]) => /DELETE FROM notifications\b/.test(text));
      query.mockRestore();
      let read = 0;
      for (const [{ text }, values] of deletions)
        JSON.stringify(
          await at.app.sql(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...values]),
          (_, value) => {
            if (value?.['Relation Name'] === 'notifications')
              read += value['Actual Rows'] + (value['Rows Removed by Filter'] ?? 0);
            return value;
          },
        );
      expect([deletions.length > 0, read < 5_000]).toEqual([true, true]);

      const found = 'SELECT FROM notifications WHERE id = $1';
      expect(await at.app.sql(found, [id])).toHaveLength(1);
      await at.app.sql(
        `UPDATE notifications SET updated_at = now() - interval '30 days 1 hour' WHERE id = $1`,
        [id],
      );
      await at.app.inCells(() => housekeeping.expire());
      expect(await at.app.sql(found, [id])).toEqual([]);
    });
  });

  test('sockets in every process receive new notifications and counts', async () => {
    const here = await TestSocket.open(at.app, at.dave);
    const there = await TestSocket.open(at.second, at.dave);
    const others = await TestSocket.open(at.second, at.carol);
    try {
      await at.task('For sockets', at.dave);
      await at.drain();
      for (const socket of [here, there])
        expect(await socket.next('notification')).toMatchObject({
          notification: { title: 'Alice assigned “For sockets” to you', state: 'unread' },
          unread_count: 1,
          unseen_count: 1,
        });
      await at.dave.api.put('/notifications/read_all', {});
      for (const socket of [here, there])
        expect(await socket.next('unread')).toEqual({ unread_count: 0, unseen_count: 0 });
      expect(others.named('notification')).toEqual([]);
    } finally {
      for (const socket of [here, there, others]) socket.socket.close();
    }
  });
});
