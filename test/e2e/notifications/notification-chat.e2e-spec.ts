import { v7 as uuidv7 } from 'uuid';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { Notifications } from '../../../src/platform/notifications/notifications.js';
import type { TestUser } from '../../support/app.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';
import { MARKER, NotificationTest } from '../../support/domains/notifications.ts';

describe('notifications', () => {
  const at = NotificationTest.use();

  describe('chat', () => {
    const notify = async (of = at.app) => {
      await of.get<ChatNotifier>(ChatNotifier).run();
      await at.drain(of);
    };
    const room = async (type: string, users: TestUser[], name?: string) =>
      (await at.alice.api.post('/chat/rooms', { type, name, member_ids: users.map(({ id }) => id) })).body
        .room.id;
    const say = (id: string, body: string, mentions: string[] = [], user = at.alice) =>
      user.api.post(`/chat/rooms/${id}/messages`, { client_msg_id: uuidv7(), body, mentions });

    test('unread messages of a room are one notification, also with two processes', async () => {
      const id = await room('group', [at.bob, at.carol], 'Offsite');
      expect((await at.only(at.bob)).title).toBe('Alice added you to Offsite');
      await at.bob.api.put('/notifications/read_all');
      for (const body of [MARKER, 'two', 'three']) expect((await say(id, body)).status).toBe(201);
      await say(id, 'mine', [], at.carol);
      await Promise.all([notify(), notify(at.second)]);
      await Promise.all([notify(), notify(at.second)]);
      const [first] = (await at.listOf(at.bob, '?unread=true')).notifications;
      expect(first).toMatchObject({ type: 'chat.message', count: 4, title: '4 new messages in Offsite' });
      expect((await at.listOf(at.carol, '?type=chat.message')).notifications[0].count).toBe(3);
      expect((await at.listOf(at.alice)).notifications[0].count).toBe(1);
      await say(id, 'five');
      await notify();
      expect((await at.listOf(at.bob, '?unread=true')).notifications).toMatchObject([{ count: 5 }]);
      expect((await at.bob.api.get('/notifications')).text).not.toContain(MARKER);
    });

    test('a room that fails does not delay the others', async () => {
      const ids = [await room('group', [at.bob], 'One'), await room('group', [at.bob], 'Two')];
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      for (const id of ids) await say(id, 'hello');
      const notifications = at.app.get<Notifications>(Notifications);
      const original = notifications.notify.bind(notifications);
      notifications.notify = () => {
        notifications.notify = original;
        return Promise.reject(new Error('broken'));
      };
      await expect(notify()).rejects.toThrow('failed for 1 items');
      expect((await at.listOf()).unread_count).toBe(1);
      await notify();
      expect((await at.listOf()).unread_count).toBe(2);
    });

    test('the process that stores a message notifies its room, before the periodic job', async () => {
      const id = await room('group', [at.bob], 'Soon');
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      const jobs = at.app.get<PeriodicJobs>(PeriodicJobs);
      const notifier = at.app.get<ChatNotifier>(ChatNotifier);
      const run = notifier.run.bind(notifier);
      notifier.run = () => Promise.resolve();
      jobs.onApplicationBootstrap();
      try {
        await say(id, 'hello');
        await until('the notification', async () => (await at.listOf()).unread_count === 1);
        await say(id, 'again');
        await until('its second message', async () => (await at.listOf()).notifications[0].count === 2);
      } finally {
        await jobs.stop();
        notifier.run = run;
      }
    });

    test('mentions are separate, muted rooms and read messages are not notified', async () => {
      const id = await room('group', [at.bob, at.carol], 'Mentions');
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      await at.carol.api.put(`/chat/rooms/${id}`, { notify: 'mentions' });
      await say(id, 'for Bob', [at.bob.id]);
      await notify();
      expect(await at.only(at.bob)).toMatchObject({
        type: 'chat.mention',
        title: 'Alice mentioned you in Mentions',
      });
      expect((await at.listOf(at.carol)).notifications).toEqual([]);
      await at.carol.api.put(`/chat/rooms/${id}`, { notify: 'none' });
      const { seq } = (await say(id, 'for Carol', [at.carol.id])).body.message;
      expect((await at.bob.api.put(`/chat/rooms/${id}/read`, { seq })).status).toBe(200);
      await notify();
      expect((await at.listOf(at.carol)).notifications).toEqual([]);
      await until('the mention to be read', async () => (await at.listOf()).unread_count === 0);
    });

    test('the actor is the sender of the newest message that is left', async () => {
      const id = await room('group', [at.bob, at.carol], 'Actors');
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      for (const type of ['chat.message', 'chat.mention']) {
        const mentions = type === 'chat.mention' ? [at.bob.id] : [];
        await say(id, 'first', mentions);
        const { message } = (await say(id, 'second', mentions, at.carol)).body;
        await notify();
        const shown = async () => (await at.listOf(at.bob, `?type=${type}`)).notifications;
        expect(await shown()).toMatchObject([{ count: 2, actor: { id: at.carol.id } }]);
        await at.carol.api.delete(`/chat/rooms/${id}/messages/${message.id}`);
        expect(await shown()).toMatchObject([{ count: 1, actor: { id: at.alice.id } }]);
      }
      expect((await at.listOf(at.bob, '?type=chat.mention')).notifications[0].title).toBe(
        'Alice mentioned you in Actors',
      );
    });

    test('a connected client learns at once that a message, its membership or the room has ended', async () => {
      const ends = [
        (id: string, message: string) => at.alice.api.delete(`/chat/rooms/${id}/messages/${message}`),
        (id: string) => at.alice.api.delete(`/chat/rooms/${id}/members/${at.bob.id}`),
        (id: string) => at.alice.api.delete(`/chat/rooms/${id}`),
      ];
      for (const end of ends) {
        const id = await room('group', [at.bob, at.carol], 'Ends');
        await at.drain();
        await at.app.sql('DELETE FROM notifications');
        const { message } = (await say(id, 'gone soon')).body;
        await notify();
        const socket = await TestSocket.open(at.second, at.bob);
        try {
          expect((await end(id, message.id)).status).toBe(200);
          const event = await socket.next('notification');
          expect(event).toMatchObject({ unread_count: 0, notification: { state: 'dismissed' } });
        } finally {
          socket.close();
        }
      }
    });

    test('a room that is read has no unread notification of the addition to it', async () => {
      const id = await room('group', [at.bob], 'Added');
      await at.drain();
      await at.app.sql(`DELETE FROM notifications WHERE type <> 'room.added'`);
      const { seq } = (await say(id, 'hello')).body.message;
      expect((await at.bob.api.put(`/chat/rooms/${id}/read`, { seq })).status).toBe(200);
      await until('the addition to be read', async () =>
        (await at.listOf(at.bob)).notifications.every(({ state }: any) => state === 'read'),
      );
    });

    test('a direct room has the name of the other user, and a member who left sees no name', async () => {
      const direct = await room('direct', [at.bob]);
      await say(direct, 'hello');
      await notify();
      expect((await at.only(at.bob)).title).toBe('New message from Alice');
      await say(direct, 'again', [at.bob.id]);
      await notify();
      expect((await at.listOf(at.bob)).notifications[0].title).toBe('Alice mentioned you');
      const group = await room('group', [at.carol], MARKER);
      await say(group, 'hello');
      await notify();
      await at.carol.api.delete(`/chat/rooms/${group}/members/${at.carol.id}`);
      expect((await at.carol.api.get('/notifications')).text).not.toContain(MARKER);
    });
  });
});
