import { v7 as uuidv7 } from 'uuid';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { NotificationMails } from '../../../src/modules/notifications/mails/notification-mails.js';
import { Db } from '../../../src/platform/database/db.js';
import { Notifications } from '../../../src/platform/notifications/notifications.js';
import type { TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { NotificationTest } from '../../support/domains/notifications.ts';
import { ok } from '../../support/domains/forms.ts';
import {
  type Made,
  messageOf,
  notificationScenarios,
  roomOf,
  type Scenario,
} from '../../support/domains/notification-scenarios.ts';

describe('the end of what a notification is about', () => {
  const at = NotificationTest.use();
  const owner = () => at.alice.api;
  const webhook = async (): Promise<Made> => {
    const input = { scope: 'user', url: 'https://partner.example/hooks', event_types: ['task.created'] };
    return { kind: 'webhook', id: ok(await at.bob.api.post('/webhooks', input), 201).webhook.id };
  };
  const scenarios: Record<string, Scenario> = {
    ...notificationScenarios(at),
    'webhook.disabled': {
      make: webhook,
      ends: {
        'the webhook is deleted': ({ id }) => at.bob.api.delete(`/webhooks/${id}`, { base_revision: 1 }),
      },
    },
  };
  const room = () => roomOf(at);
  const say = (id: string, mentions: string[]) => messageOf(at, id, mentions);
  const task = async (): Promise<Made> => ({ kind: 'task', ...(await at.task('Paint')) });

  /** Notifies the recipient of the object only. */
  const notify = async (type: string, { kind, id, data }: Made, recipient = at.bob) => {
    await at.drain();
    await at.app.sql('DELETE FROM notifications');
    const notifications = at.app.get<Notifications>(Notifications);
    const cause = { recipients: [recipient.id], actorId: null, subject: { kind, id }, key: uuidv7() };
    await at.app.get<Db>(Db).tx((tx) =>
      notifications.notify(tx, at.alice.tenantId!, notifications.find(type)!, {
        ...cause,
        ...(data && { data }),
      }),
    );
    await at.drain();
  };
  const queueMails = async () => {
    await at.app.sql('UPDATE notifications SET email_due_at = now() - make_interval(secs => 1)');
    await at.app.get<NotificationMails>(NotificationMails).run();
  };
  const summary = async (user: TestUser) => {
    const { notifications, unread_count, unseen_count } = ok(await user.api.get('/notifications'));
    return [notifications.map(({ type }: any) => type), unread_count, unseen_count];
  };

  test('each type with a subject has a scenario here', () => {
    const types = at.app.get<Notifications>(Notifications).all.filter(({ lasts }) => lasts !== 'always');
    expect(types.map(({ key }) => key).toSorted()).toEqual(Object.keys(scenarios).toSorted());
  });

  test.each(Object.entries(scenarios))(
    '%s leaves lists, counts and queued e-mails',
    async (type, scenario) => {
      const user = scenario.recipient?.() ?? at.bob;
      for (const [happened, end] of [['nothing', null] as const, ...Object.entries(scenario.ends)]) {
        const made = await scenario.make();
        await notify(type, made, user);
        expect([happened, await summary(user)]).toEqual([happened, [[type], 1, 1]]);
        const release = await holdEvents(at.app);
        await queueMails();
        const response = await end?.(made);
        if (typeof response === 'object' && response !== null && 'status' in response)
          expect(response).toMatchObject({ status: 200 });
        at.relay.received.length = 0;
        await release();
        await at.drain();
        await at.app.sql(`DELETE FROM notifications WHERE type <> $1`, [type]);
        const isLeft = end === null;
        expect([happened, await summary(user)]).toEqual([happened, isLeft ? [[type], 1, 1] : [[], 0, 0]]);
        expect([happened, at.relay.received.length]).toEqual([happened, isLeft ? 1 : 0]);
      }
    },
  );

  test('an e-mail that is due is not queued, and a read notification leaves the list', async () => {
    const made = await task();
    await notify('task.due', made);
    await owner().patch(`/tasks/${made.id}`, { done: true });
    await queueMails();
    expect(await at.app.sql(`SELECT state, emailed_at FROM notifications WHERE type = 'task.due'`)).toEqual([
      { state: 'dismissed', emailed_at: null },
    ]);
    const other = await task();
    await notify('task.due', other);
    await at.bob.api.put('/notifications/read_all', {});
    await owner().patch(`/tasks/${other.id}`, { done: true });
    expect(await summary(at.bob)).toEqual([[], 0, 0]);
  });

  test('a deleted message or comment leaves the count of its group', async () => {
    const notified = async () => {
      await at.app.get<ChatNotifier>(ChatNotifier).run();
      const { notifications } = await at.listOf(at.bob, '?unread=true');
      return notifications.map(({ type, count, data }: any) => [
        type,
        count,
        data.message_id ?? data.comment_id,
      ]);
    };
    const id = await room();
    await notified();
    await at.app.sql('DELETE FROM notifications');
    const [one, two, three] = [await say(id, []), await say(id, []), await say(id, [])];
    expect(await notified()).toEqual([['chat.message', 3, three.id]]);
    await owner().delete(`/chat/rooms/${id}/messages/${three.id}`);
    await owner().delete(`/chat/rooms/${id}/messages/${one.id}`);
    expect(await notified()).toEqual([['chat.message', 1, two.id]]);
    await at.app.sql('DELETE FROM notifications');
    const [first, second] = [await say(id, [at.bob.id]), await say(id, [at.bob.id])];
    expect(await notified()).toEqual([['chat.mention', 2, second.id]]);
    await owner().patch(`/chat/rooms/${id}/messages/${second.id}`, { body: 'y', mentions: [] });
    expect(await notified()).toEqual([['chat.mention', 1, first.id]]);
    const made = await task();
    await at.drain();
    await at.app.sql('DELETE FROM notifications');
    const write = async () =>
      ok(await owner().post(`/tasks/${made.id}/comments`, { body: 'x' }), 201).comment.id;
    const comments = [await write(), await write()];
    expect(await notified()).toEqual([['task.commented', 2, comments[1]]]);
    await owner().delete(`/tasks/${made.id}/comments/${comments[1]}`);
    expect(await notified()).toEqual([['task.commented', 1, comments[0]]]);
  });

  test('an edit notifies newly mentioned members once, over HTTP, unless they muted the room', async () => {
    const id = await room();
    const { id: message_id } = await say(id, []);
    await at.app.get<ChatNotifier>(ChatNotifier).run();
    await at.drain();
    await at.app.sql('DELETE FROM notifications');
    const edit = (body: string, mentions?: string[]) =>
      owner().patch(`/chat/rooms/${id}/messages/${message_id}`, { body, ...(mentions && { mentions }) });
    const mentions = async () => (await at.listOf(at.bob, '?type=chat.mention')).notifications;
    ok(await edit('Bob', [at.bob.id]));
    expect(await mentions()).toMatchObject([{ title: 'Alice mentioned you in Jetty', data: { message_id } }]);
    ok(await edit('Bob!'));
    expect(await mentions()).toMatchObject([{ count: 1 }]);
    ok(await edit('nobody', []));
    expect(await mentions()).toEqual([]);
    const { id: muted } = await say(id, []);
    await at.bob.api.put(`/chat/rooms/${id}`, { notify: 'none' });
    ok(await owner().patch(`/chat/rooms/${id}/messages/${muted}`, { body: 'Bob', mentions: [at.bob.id] }));
    expect(await mentions()).toEqual([]);
  });
});
