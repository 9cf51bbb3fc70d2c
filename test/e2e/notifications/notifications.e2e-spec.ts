import { v7 as uuidv7 } from 'uuid';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { NotificationHousekeeping } from '../../../src/modules/notifications/notification-housekeeping.js';
import { NotificationMails } from '../../../src/modules/notifications/mails/notification-mails.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import type { NotificationType } from '../../../src/platform/notifications/notification-type.js';
import { Notifications } from '../../../src/platform/notifications/notifications.js';
import { type Person, TestApp } from '../../support/app.ts';
import { OtherServer } from '../../support/smtp.ts';
import { TestSocket } from '../../support/socket.ts';
import { until } from '../../support/until.ts';

const MARKER = 'zanzibar-4711';

describe('notifications', () => {
  let relay: OtherServer;
  let app: TestApp;
  let second: TestApp;
  /** Dave has sockets: an active user gets no e-mail. */
  let [alice, bob, carol, dave]: Person[] = [];
  let stranger: Person;

  beforeAll(async () => {
    relay = await OtherServer.start();
    app = await TestApp.start({ SMTP_URL: relay.url, PUBLIC_URL: 'https://work.example' });
    second = await TestApp.start(
      { SMTP_URL: relay.url, PUBLIC_URL: 'https://work.example' },
      app.databaseUrl,
    );
    [alice, bob, carol, dave] = await app.tenant('acme', 'alice', 'bob', 'carol', 'dave');
    [stranger] = (await app.tenant('other', 'olaf')) as [Person];
  });
  afterAll(async () => {
    await second?.stop();
    await app?.stop();
    await relay?.stop();
  });
  beforeEach(async () => {
    await drain();
    await app.sql('DELETE FROM notifications');
    relay.received.length = 0;
  });

  const drain = (of = app) => of.get<OutboxWorker>(OutboxWorker).drain();
  const listOf = async (person = bob!, query = '') => {
    await drain();
    const { status, body } = await person.api.get(`/notifications${query}`);
    expect(status).toBe(200);
    return body;
  };
  /** The one notification of a user. */
  const only = async (person = bob!) => {
    const { notifications } = await listOf(person);
    expect(notifications).toHaveLength(1);
    return notifications[0];
  };
  const task = async (title = 'Book the venue', assignee = bob!) =>
    (await alice!.api.post('/tasks', { title, assignees: [assignee.id] })).body.task;
  const note = async (title: string) => (await alice!.api.post('/notes', { title })).body.note;
  const invite = (id: string, people: Person[]) =>
    alice!.api.put(`/notes/${id}/invited`, { invited: people.map(({ id }) => ({ id, role: 'viewer' })) });
  const settings = (person: Person, preferences: object) =>
    person.api.put('/settings/notifications', preferences);
  const mailDue = async (of = app) => {
    await app.sql('UPDATE notifications SET email_due_at = now() WHERE email_due_at IS NOT NULL');
    await of.get<NotificationMails>(NotificationMails).run();
    await drain(of);
  };

  describe('causes', () => {
    test('assigned tasks notify the assignee, with the current title, in the language of the reader', async () => {
      const { id } = await task();
      const notification = await only();
      expect(notification).toMatchObject({
        type: 'task.assigned',
        preference: 'task.*',
        title: 'Alice assigned “Book the venue” to you',
        actor: { id: alice!.id, display_name: 'Alice' },
        subject: { kind: 'task', id, title: 'Book the venue' },
        url_path: `/tasks/${id}`,
        count: 1,
        state: 'unread',
        seen_at: null,
      });
      expect((await listOf(alice)).notifications).toEqual([]);
      await bob!.api.put('/settings/general-preferences', { language: 'vi' });
      expect((await only()).title).toBe('Alice đã giao “Book the venue” cho bạn');
      await bob!.api.put('/settings/general-preferences', { language: null });
      await alice!.api.patch(`/tasks/${id}`, { title: 'Book it', base_revision: 1 });
      expect((await only()).title).toBe('Alice assigned “Book it” to you');
    });

    test('comments are counted in one unread notification, and a read one is followed by a new one', async () => {
      const { id } = await task();
      await drain();
      for (const body of ['one', 'two', 'three']) await alice!.api.post(`/tasks/${id}/comments`, { body });
      const [commented] = (await listOf(bob, '?type=task.commented')).notifications;
      expect(commented).toMatchObject({ count: 3, title: '3 new comments on “Book the venue”' });
      await bob!.api.put(`/notifications/${commented.id}/read`, {});
      await alice!.api.post(`/tasks/${id}/comments`, { body: 'four' });
      const { notifications } = await listOf(bob, '?type=task.commented');
      expect(notifications.map(({ count, state }: any) => [count, state])).toEqual([
        [1, 'unread'],
        [3, 'read'],
      ]);
      // Both of one group may be unread again.
      const again = await bob!.api.put(`/notifications/${commented.id}/read`, { read: false });
      expect([again.status, again.body.unread_count]).toEqual([200, 3]);
    });

    test('shared notes, task folders, forms and reports notify those who gained access, once', async () => {
      const { id } = await note('Plan');
      await invite(id, [bob!]);
      await invite(id, [bob!, carol!]);
      const { folder } = (await alice!.api.post('/task_folders', { name: 'Trip' })).body;
      const shared = await alice!.api.patch(`/task_folders/${folder.id}`, {
        members: [{ user_id: bob!.id, role: 'editor' }],
        base_revision: folder.revision,
      });
      expect(shared.status).toBe(200);
      const titles = (await listOf()).notifications.map(({ title }: any) => title);
      expect(titles).toEqual([
        'Alice shared the task folder “Trip” with you',
        'Alice shared the note “Plan” with you',
      ]);
      expect((await listOf(carol)).notifications).toHaveLength(1);
    });

    test('responses to a form are counted for its editors, without the respondent', async () => {
      const definition = {
        sections: [{ id: 's', title: 'S', questions: [{ id: 'q', type: 'short_text', title: 'Q' }] }],
      };
      const { form } = (await alice!.api.post('/forms', { title: 'Canteen', definition })).body;
      expect((await alice!.api.post(`/forms/${form.id}/publish`, {})).status).toBe(200);
      const access = [
        { user_id: bob!.id, role: 'editor' },
        { user_id: carol!.id, role: 'respondent' },
      ];
      expect((await alice!.api.put(`/forms/${form.id}/access`, { access })).status).toBe(200);
      for (const person of [bob!, carol!, carol!]) {
        const { status } = await person.api.post(`/forms/${form.id}/submit`, { answers: { q: 'x' } });
        expect(status).toBe(201);
      }
      expect(await only(bob)).toMatchObject({
        title: '“Canteen” has 2 new responses',
        count: 2,
        actor: null,
      });
      expect(await only(alice)).toMatchObject({ count: 3 });
      await alice!.api.post(`/forms/${form.id}/accepting`, { accepting: false });
      const [closed] = (await listOf(bob)).notifications;
      expect(closed).toMatchObject({ type: 'form.closed', title: 'Alice closed the form “Canteen”' });
      expect((await listOf(carol)).notifications).toEqual([]);
      const report = await alice!.api.post(`/forms/${form.id}/reports`, {
        name: 'Weekly',
        definition: { columns: ['q'] },
      });
      expect(report.status).toBe(201);
      const path = `/forms/${form.id}/reports/${report.body.report.id}/share`;
      for (const viewers of [[{ user_id: carol!.id }], [{ user_id: carol!.id }, { user_id: bob!.id }]])
        expect((await alice!.api.post(path, { viewers })).status).toBe(200);
      expect(await only(carol)).toMatchObject({ title: 'Alice shared the report “Weekly” with you' });
    });

    test('an event that is delivered again and by two processes at once notifies once', async () => {
      await task();
      const [event] = await app.sql(`SELECT * FROM outbox WHERE type = 'task.assigned'`);
      await Promise.all([drain(), drain(second)]);
      await app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload, occurred_at) VALUES ($1, $2, $3, $4, $5)`,
        [event.tenant_id, event.id, event.type, event.payload, event.occurred_at],
      );
      await Promise.all([drain(), drain(second)]);
      expect(await only()).toMatchObject({ count: 1 });
    });

    test('a rolled-back cause notifies nobody; deactivated members and those who opted out get nothing', async () => {
      const type: NotificationType = {
        key: 'test.happened',
        preference: 'room.added',
        texts: { en: 'Happened', de: 'x', pt: 'x', vi: 'x' },
      };
      for (const each of [app, second]) each.get<Notifications>(Notifications).register(type);
      const recipients = [alice!.id, bob!.id, carol!.id, uuidv7(), stranger.id];
      const cause = { recipients, actorId: alice!.id, subject: null };
      const notify = (isFailing: boolean) =>
        app.get<Db>(Db).tx(async (tx) => {
          await app.get<Notifications>(Notifications).notify(tx, alice!.tenantId!, type, cause);
          if (isFailing) throw new Error('rolled back');
        });
      await expect(notify(true)).rejects.toThrow('rolled back');
      expect((await listOf()).notifications).toEqual([]);
      await settings(carol!, { types: { 'room.added': { in_app: false, email: false } } });
      await notify(false);
      expect(await only()).toMatchObject({ type: 'test.happened', title: 'Happened', subject: null });
      for (const person of [alice!, carol!, stranger])
        expect((await listOf(person)).notifications).toEqual([]);
    });
  });

  test('participants of an event are notified of the invitation, of a new time and of its end', async () => {
    const calendar = (await alice!.api.get('/calendar')).body.calendars[0].id;
    const people = [bob!, carol!].map(({ email }) => ({ email }));
    const at = (hour: number) => ({ start: `2027-03-01T${hour}:00:00`, end: `2027-03-01T${hour + 1}:00:00` });
    const created = await alice!.api.post(`/calendar/${calendar}/events`, {
      title: 'Offsite',
      ...at(10),
      time_zone: 'Europe/Berlin',
      attendees: people,
    });
    expect(created.status).toBe(201);
    const { id, revision } = created.body.event;
    expect(await only(bob)).toMatchObject({
      type: 'calendar.invited',
      title: 'Alice invited you to “Offsite”',
    });
    const path = `/calendar/${calendar}/events/${id}`;
    const moved = await alice!.api.put(path, {
      ...at(14),
      time_zone: 'Europe/Berlin',
      base_revision: revision,
    });
    expect(moved.status).toBe(200);
    await drain();
    const renamed = await alice!.api.put(path, {
      description: 'Bring shoes',
      base_revision: moved.body.event.revision,
    });
    expect(renamed.status).toBe(200);
    expect((await alice!.api.delete(path)).status).toBe(200);
    const { notifications } = await listOf(bob);
    expect(notifications.map(({ type }: any) => type)).toEqual([
      'calendar.cancelled',
      'calendar.changed',
      'calendar.invited',
    ]);
    expect(notifications[0].title).toBe('Alice cancelled “Offsite”');
    expect((await listOf(alice)).notifications).toEqual([]);
    await app.sql(
      `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, 'calendar.reminder.due', $3)`,
      [
        alice!.tenantId,
        uuidv7(),
        { event_id: id, user_id: alice!.id, start: '2027-03-01T13:00:00Z', minutes: 10 },
      ],
    );
    expect(await only(alice)).toMatchObject({ type: 'calendar.reminder', title: 'Reminder: “Offsite”' });
  });

  describe('chat', () => {
    const notify = async (of = app) => {
      await of.get<ChatNotifier>(ChatNotifier).run();
      await drain(of);
    };
    const room = async (type: string, people: Person[], name?: string) =>
      (await alice!.api.post('/chat/rooms', { type, name, member_ids: people.map(({ id }) => id) })).body.room
        .id;
    const say = (id: string, body: string, mentions: string[] = [], person = alice!) =>
      person.api.post(`/chat/rooms/${id}/messages`, { client_msg_id: uuidv7(), body, mentions });

    test('unread messages of a room are one notification, also with two processes', async () => {
      const id = await room('group', [bob!, carol!], 'Offsite');
      expect((await only(bob)).title).toBe('Alice added you to Offsite');
      await bob!.api.put('/notifications/read_all');
      for (const body of [MARKER, 'two', 'three']) expect((await say(id, body)).status).toBe(201);
      await say(id, 'mine', [], carol);
      await Promise.all([notify(), notify(second)]);
      await Promise.all([notify(), notify(second)]);
      const [first] = (await listOf(bob, '?unread=true')).notifications;
      expect(first).toMatchObject({ type: 'chat.message', count: 4, title: '4 new messages in Offsite' });
      expect((await listOf(carol, '?type=chat.message')).notifications[0].count).toBe(3);
      expect((await listOf(alice)).notifications[0].count).toBe(1);
      await say(id, 'five');
      await notify();
      expect((await listOf(bob, '?unread=true')).notifications).toMatchObject([{ count: 5 }]);
      expect((await bob!.api.get('/notifications')).text).not.toContain(MARKER);
    });

    test('mentions are told apart, muted rooms and read messages are not notified', async () => {
      const id = await room('group', [bob!, carol!], 'Mentions');
      await drain();
      await app.sql('DELETE FROM notifications');
      await carol!.api.put(`/chat/rooms/${id}`, { notify: 'mentions' });
      await say(id, 'for Bob', [bob!.id]);
      await notify();
      expect(await only(bob)).toMatchObject({
        type: 'chat.mention',
        title: 'Alice mentioned you in Mentions',
      });
      expect((await listOf(carol)).notifications).toEqual([]);
      await carol!.api.put(`/chat/rooms/${id}`, { notify: 'none' });
      const { seq } = (await say(id, 'for Carol', [carol!.id])).body.message;
      expect((await bob!.api.put(`/chat/rooms/${id}/read`, { seq })).status).toBe(200);
      await notify();
      expect((await listOf(carol)).notifications).toEqual([]);
      await until('the mention to be read', async () => (await listOf()).unread_count === 0);
    });

    test('a direct room has the name of the other user, and a member who left sees no name', async () => {
      const direct = await room('direct', [bob!]);
      await say(direct, 'hello');
      await notify();
      expect((await only(bob)).title).toBe('New message in Alice');
      const group = await room('group', [carol!], MARKER);
      await say(group, 'hello');
      await notify();
      await carol!.api.delete(`/chat/rooms/${group}/members/${carol!.id}`);
      expect((await carol!.api.get('/notifications')).text).not.toContain(MARKER);
    });
  });

  describe('rights', () => {
    test('the title of a revoked object appears nowhere', async () => {
      const { id } = await note(MARKER);
      await invite(id, [dave!]);
      await drain();
      await invite(id, []);
      await mailDue();
      expect(relay.received).toEqual([]);
      expect(await app.sql(`SELECT state FROM system_mails ORDER BY id DESC LIMIT 1`)).toEqual([
        { state: 'cancelled' },
      ]);
      const { status, text } = await dave!.api.get('/notifications');
      expect([status, text.includes(MARKER)]).toEqual([200, false]);
      const { notifications } = JSON.parse(text);
      expect(notifications[0]).toMatchObject({
        title: 'This notification is about something that you can no longer open.',
        subject: { id, title: null },
        url_path: null,
      });
      const socket = await TestSocket.open(app, dave!);
      try {
        await dave!.api.put(`/notifications/${notifications[0].id}/lifecycle`, { state: 'seen' });
        await socket.next('notification');
        expect(JSON.stringify(socket.events)).not.toContain(MARKER);
      } finally {
        socket.socket.close();
      }
    });

    test('notifications of other users and workspaces are unknown', async () => {
      await task();
      const { id } = await only();
      for (const person of [alice!, carol!, stranger]) {
        for (const [method, path, body] of [
          ['PUT', 'read', {}],
          ['PUT', 'lifecycle', { state: 'dismissed' }],
          ['PUT', 'lifecycle', { state: 'nonsense' }],
          ['PATCH', 'lifecycle', { snooze_until: new Date(Date.now() + 1e6).toISOString() }],
        ] as const) {
          const { status } = await person.api.request(method, `/notifications/${id}/${path}`, { body });
          expect(status).toBe(404);
        }
        await person.api.put('/notifications/read_all', {});
      }
      expect((await only()).state).toBe('unread');
    });
  });

  describe('the list', () => {
    test('pages, filters and counts', async () => {
      for (let n = 0; n < 5; n += 1) await task(`Task ${n}`);
      await invite((await note('Plan')).id, [bob!]);
      const all = (await listOf()).notifications;
      expect(all).toHaveLength(6);
      const paged: unknown[] = [];
      let next: string | null = '';
      while (next !== null) {
        const page: any = await listOf(bob, `?limit=2${next && `&cursor=${next}`}`);
        paged.push(...page.notifications);
        next = page.next;
      }
      expect(paged).toEqual(all);
      const shared = all.find(({ type }: any) => type === 'note.shared');
      const tasks = all.filter(({ type }: any) => type === 'task.assigned');
      const count = async (query: string) => (await listOf(bob, query)).notifications.length;
      await bob!.api.put(`/notifications/${shared.id}/lifecycle`, { state: 'archived' });
      await bob!.api.put(`/notifications/${tasks[0].id}/read`);
      await bob!.api.put(`/notifications/${tasks[1].id}/lifecycle`, { state: 'dismissed' });
      expect(await count('')).toBe(4);
      expect(await count('?unread=true')).toBe(3);
      expect(await count('?state=unread')).toBe(3);
      expect(await count('?state=archived')).toBe(1);
      expect(await count('?state=archived&state=read')).toBe(2);
      expect(await count('?type=note.shared&state=archived')).toBe(1);
      expect(await count('?type=task.*')).toBe(4);
      expect(await count('?type=note.shared')).toBe(0);
      expect((await listOf()).unread_count).toBe(3);
      expect((await listOf()).unseen_count).toBe(3);
      for (const query of ['?state=dismissed', '?type=x', '?unread=perhaps', '?cursor=x', '?limit=0'])
        expect((await bob!.api.get(`/notifications${query}`)).status).toBe(422);
    });

    test('read_all leaves what arrives after the given position, and other kinds', async () => {
      await task('One');
      await task('Two');
      const [newest, oldest] = (await listOf()).notifications;
      const one = await bob!.api.put('/notifications/read_all', { before: oldest.seq });
      expect(one.body).toEqual({ updated: 1, unread_count: 1, unseen_count: 1 });
      const none = await bob!.api.put('/notifications/read_all', { type: 'note.shared' });
      expect(none.body.updated).toBe(0);
      const early = await bob!.api.put('/notifications/read_all', { before: '2020-01-01T00:00:00Z' });
      expect(early.body.updated).toBe(0);
      const rest = await bob!.api.put('/notifications/read_all');
      expect(rest.body).toEqual({ updated: 1, unread_count: 0, unseen_count: 0 });
      expect((await listOf()).notifications.map(({ id }: any) => id)).toEqual([newest.id, oldest.id]);
      for (const body of [{ before: -1 }, { before: 'x' }, { before: null }, { type: 'a b' }])
        expect((await bob!.api.put('/notifications/read_all', body)).status).toBe(422);
    });
  });

  describe('snooze', () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

    test('a snoozed notification returns once, unread, at the top', async () => {
      await task('First');
      const { id } = await only();
      await task('Second');
      await drain();
      const path = `/notifications/${id}/lifecycle`;
      const until = inDays(1);
      const { body } = await bob!.api.put(path, { state: 'snoozed', snooze_until: until });
      expect(body.notification).toMatchObject({ state: 'snoozed', snooze_until: until });
      expect((await listOf()).notifications).toHaveLength(1);
      expect((await bob!.api.patch(path, { snooze_until: inDays(2) })).status).toBe(200);
      await app.sql(`UPDATE notifications SET snooze_until = now() - interval '1 s' WHERE id = $1`, [id]);
      await Promise.all(
        [app, second].map((each) => each.get<NotificationHousekeeping>(NotificationHousekeeping).wake()),
      );
      const { notifications } = await listOf();
      expect(notifications.map(({ state, title }: any) => [state, title.slice(-16, -8)])).toHaveLength(2);
      expect(notifications[0]).toMatchObject({ id, state: 'unread', snooze_until: null, seen_at: null });
      expect(new Set(notifications.map(({ seq }: any) => seq)).size).toBe(2);
      expect((await bob!.api.patch(path, { snooze_until: inDays(2) })).body.error).toBe('invalid_transition');
    });

    test('bad times and misplaced fields are rejected', async () => {
      await task();
      const { id } = await only();
      for (const body of [
        { state: 'snoozed' },
        { state: 'snoozed', snooze_until: inDays(91) },
        { state: 'snoozed', snooze_until: inDays(-1) },
        { state: 'snoozed', snooze_until: 'tomorrow' },
        { state: 'read', snooze_until: inDays(1) },
        { state: 'none' },
        {},
      ])
        expect((await bob!.api.put(`/notifications/${id}/lifecycle`, body)).status).toBe(422);
      expect((await bob!.api.patch(`/notifications/${id}/lifecycle`, {})).status).toBe(422);
      expect((await bob!.api.put('/notifications/x/read')).status).toBe(422);
      expect((await only()).state).toBe('unread');
    });

    test('old notifications are deleted', async () => {
      await task('Old');
      await task('New');
      const [, old] = (await listOf()).notifications;
      await app.sql(`UPDATE notifications SET updated_at = now() - interval '181 days' WHERE id = $1`, [
        old.id,
      ]);
      await app.get<NotificationHousekeeping>(NotificationHousekeeping).expire();
      expect((await only()).id).not.toBe(old.id);
    });
  });

  test('sockets in every process receive new notifications and counts', async () => {
    const here = await TestSocket.open(app, dave!);
    const there = await TestSocket.open(second, dave!);
    const others = await TestSocket.open(second, carol!);
    try {
      await task('For sockets', dave);
      await drain();
      for (const socket of [here, there])
        expect(await socket.next('notification')).toMatchObject({
          notification: { title: 'Alice assigned “For sockets” to you', state: 'unread' },
          unread_count: 1,
          unseen_count: 1,
        });
      await dave!.api.put('/notifications/read_all', {});
      for (const socket of [here, there])
        expect(await socket.next('unread')).toEqual({ unread_count: 0, unseen_count: 0 });
      expect(others.named('notification')).toEqual([]);
    } finally {
      for (const socket of [here, there, others]) socket.socket.close();
    }
  });

  describe('e-mail', () => {
    const bodies = () => relay.received.map(({ raw }) => raw);

    test('two processes send one e-mail with everything unread, in the language of the recipient', async () => {
      await bob!.api.put('/settings/general-preferences', { language: 'de' });
      await task('Eins');
      await task('Zwei');
      await drain();
      expect(relay.received).toEqual([]);
      await app.sql('UPDATE notifications SET email_due_at = now()');
      await Promise.all([app, second].map((each) => each.get<NotificationMails>(NotificationMails).run()));
      await Promise.all([drain(), drain(second)]);
      await until('the e-mail', () => relay.received.length > 0);
      await mailDue();
      expect(relay.received).toHaveLength(1);
      const [mail] = relay.received;
      expect(mail!.to).toEqual([bob!.email]);
      expect(mail!.raw).toContain('Subject: 2 neue Benachrichtigungen');
      expect(mail!.raw).toContain('https://work.example/tasks/');
      await bob!.api.put('/settings/general-preferences', { language: null });
    });

    test('an active user gets no e-mail', async () => {
      const socket = await TestSocket.open(app, dave!);
      try {
        await until('the presence', async () => {
          const { body } = await dave!.api.get(`/presence/${dave!.id}`);
          return JSON.stringify(body).includes('online');
        });
        await task('Active', dave);
        await drain();
        await mailDue();
        expect(relay.received).toEqual([]);
        const [row] = await app.sql('SELECT email_due_at > now() AS later FROM notifications');
        expect(row.later).toBe(true);
      } finally {
        socket.socket.close();
      }
    });

    test('a notification that was read, archived or switched off meanwhile is not sent', async () => {
      await task('Read');
      await task('Archived');
      await invite((await note('Off')).id, [bob!]);
      const [, archived, read] = (await listOf()).notifications;
      await bob!.api.put(`/notifications/${read.id}/read`);
      await bob!.api.put(`/notifications/${archived.id}/lifecycle`, { state: 'archived' });
      await settings(bob!, { types: { 'note.shared': { email: false } } });
      await mailDue();
      expect(relay.received).toEqual([]);
      await settings(bob!, { types: { 'note.shared': { email: true } } });
    });

    test('quiet hours and digests delay it; a security message does not wait', async () => {
      const ranges = [
        { from: '00:00', to: '23:59' },
        { from: '23:00', to: '01:00' },
      ];
      await settings(bob!, { quiet_hours: { ranges }, digest: 'off' });
      await settings(carol!, { quiet_hours: { ranges: [{ from: '00:00', to: '23:59' }] } });
      await task('Quiet', carol);
      await drain();
      const [row] = await app.sql('SELECT email_due_at > now() AS later FROM notifications');
      expect(row.later).toBe(true);
      await mailDue();
      expect(relay.received).toEqual([]);
      await settings(carol!, { quiet_hours: { ranges: [] }, digest: 'weekly' });
      await settings(bob!, {
        quiet_hours: { ranges: [] },
        digest: 'off',
        types: {},
        channels: { email: false },
      });
      await app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, 'security.password_changed', $3)`,
        [bob!.tenantId, uuidv7(), { user_id: bob!.id, session_id: null, ip: null }],
      );
      await drain();
      const { id } = await only(bob);
      await bob!.api.put(`/notifications/${id}/read`);
      await app.get<NotificationMails>(NotificationMails).run();
      await drain();
      const [mail] = await until('the mail', () => (relay.received.length > 0 ? bodies() : undefined));
      expect(mail).toContain('Subject: The password of your account was changed');
      expect(mail).not.toContain('List-Unsubscribe');
      await settings(bob!, { channels: { email: true } });
      await settings(carol!, { digest: 'off' });
    });

    test('the link in an e-mail ends e-mails of its kind, after a confirmation or with one click', async () => {
      await task();
      await drain();
      await mailDue();
      const [mail = ''] = await until('the mail', () => (relay.received.length > 0 ? bodies() : undefined));
      expect(mail).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
      const [, path = ''] =
        /^List-Unsubscribe: +<https:\/\/work\.example\/apis\/v1(\S+)>/m.exec(
          mail.replace(/\r\n(?=[ \t])/g, ''),
        ) ?? [];
      const page = await app.anonymous.get(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.text).toContain('Stop these e-mails?');
      const preferences = async () => (await bob!.api.get('/settings/notifications')).body.preferences;
      expect((await preferences()).types['task.*'].email).toBe(true);
      const one = await app.anonymous.request('POST', path, {
        raw: 'List-Unsubscribe=One-Click',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(one.status).toBe(200);
      expect((await preferences()).types['task.*']).toEqual({ email: false, push: true, in_app: true });
      expect((await preferences()).channels.email).toBe(true);
      for (const forged of [`${path.slice(0, -3)}AAA`, '/notifications/unsubscribe/x', `${path}.x.y`])
        for (const method of ['GET', 'POST'])
          expect((await app.anonymous.request(method, forged)).status).toBe(
            forged.endsWith('.x.y') ? 200 : 404,
          );
      await settings(bob!, { types: { 'task.*': { email: true } } });
    });
  });
});
