import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../../src/platform/database/db.js';
import type { NotificationType } from '../../../src/platform/notifications/notification-type.js';
import { Notifications } from '../../../src/platform/notifications/notifications.js';
import { holdEvents } from '../../support/database/outbox.ts';
import { NotificationTest } from '../../support/domains/notifications.ts';

describe('notifications', () => {
  const at = NotificationTest.use();

  describe('causes', () => {
    test('assigned tasks notify the assignee, with the current title, in the language of the reader', async () => {
      const { id } = await at.task();
      const notification = await at.only();
      expect(notification).toMatchObject({
        type: 'task.assigned',
        preference: 'task.*',
        title: 'Alice assigned “Book the venue” to you',
        actor: { id: at.alice.id, display_name: 'Alice' },
        subject: { kind: 'task', id, title: 'Book the venue' },
        url_path: `/tasks/${id}`,
        count: 1,
        state: 'unread',
        seen_at: null,
      });
      expect((await at.listOf(at.alice)).notifications).toEqual([]);
      await at.bob.api.put('/settings/general-preferences', { language: 'vi' });
      expect((await at.only()).title).toBe('Alice đã giao “Book the venue” cho bạn');
      await at.bob.api.put('/settings/general-preferences', { language: null });
      await at.alice.api.patch(`/tasks/${id}`, { title: 'Book it', base_revision: 1 });
      expect((await at.only()).title).toBe('Alice assigned “Book it” to you');
    });

    test('comments are counted in one unread notification, and a read one is followed by a new one', async () => {
      const { id } = await at.task();
      await at.drain();
      for (const body of ['one', 'two', 'three']) await at.alice.api.post(`/tasks/${id}/comments`, { body });
      const [commented] = (await at.listOf(at.bob, '?type=task.commented')).notifications;
      expect(commented).toMatchObject({ count: 3, title: '3 new comments on “Book the venue”' });
      await at.bob.api.put(`/notifications/${commented.id}/read`, {});
      await at.alice.api.post(`/tasks/${id}/comments`, { body: 'four' });
      const { notifications } = await at.listOf(at.bob, '?type=task.commented');
      expect(notifications.map(({ count, state }: any) => [count, state])).toEqual([
        [1, 'unread'],
        [3, 'read'],
      ]);
      // Both notifications of a group may be marked as unread.
      const again = await at.bob.api.put(`/notifications/${commented.id}/read`, { read: false });
      expect([again.status, again.body.unread_count]).toEqual([200, 3]);
    });

    test('shared notes, task folders, forms and reports notify those who gained access, once', async () => {
      const { id } = await at.note('Plan');
      await at.invite(id, [at.bob]);
      await at.invite(id, [at.bob, at.carol]);
      const { folder } = (await at.alice.api.post('/task_folders', { name: 'Trip' })).body;
      const shared = await at.alice.api.patch(`/task_folders/${folder.id}`, {
        members: [{ user_id: at.bob.id, role: 'editor' }],
        base_revision: folder.revision,
      });
      expect(shared.status).toBe(200);
      const titles = (await at.listOf()).notifications.map(({ title }: any) => title);
      expect(titles.toSorted()).toEqual([
        'Alice shared the note “Plan” with you',
        'Alice shared the task folder “Trip” with you',
      ]);
      expect((await at.listOf(at.carol)).notifications).toHaveLength(1);
    });

    test('many responses are counted together, once when their events are delivered again', async () => {
      const definition = {
        sections: [{ id: 's', title: 'S', questions: [{ id: 'q', type: 'short_text', title: 'Q' }] }],
      };
      const { form } = (await at.alice.api.post('/forms', { title: 'Lunch', definition })).body;
      await at.alice.api.post(`/forms/${form.id}/publish`, {});
      await at.alice.api.put(`/forms/${form.id}/access`, {
        access: [at.bob, at.carol].map(({ id }) => ({ user_id: id, role: 'editor' })),
      });
      await at.drain();
      await at.app.sql('DELETE FROM notifications');
      const { id: tenant } = (await at.app.sql(`SELECT id FROM tenants WHERE slug = 'acme'`))[0] as {
        id: string;
      };
      const respondents = Array.from({ length: 130 }, (_, n) => [at.bob.id, at.carol.id, at.dave.id][n % 3]);
      // As submissions store them, in one statement: the events of one claim of the outbox are delivered together.
      await at.app.sql(
        `INSERT INTO form_responses (tenant_id, form_id, id, version, respondent_id, answers, search_text, submitted_at, updated_at)
         SELECT $1, $2, gen_random_uuid(), 1, respondent, '{"q": "x"}', 'x', now(), now() FROM unnest($3::uuid[]) respondent`,
        [tenant, form.id, respondents],
      );
      const deliver = async () => {
        await at.app.sql(
          `INSERT INTO outbox (tenant_id, id, type, payload)
           SELECT $1, md5(response.id::text)::uuid, 'form.response_submitted',
                  jsonb_build_object('form_id', $2::uuid, 'response_id', response.id)
             FROM form_responses response WHERE response.tenant_id = $1 AND response.form_id = $2`,
          [tenant, form.id],
        );
        await Promise.all([at.drain(), at.drain(at.second)]);
      };
      for (let delivery = 1; delivery <= 2; delivery += 1) {
        await deliver();
        expect(await at.only(at.alice)).toMatchObject({ count: 130, title: '“Lunch” has 130 new responses' });
        expect(await at.only(at.bob)).toMatchObject({ count: 86 });
        expect(await at.only(at.carol)).toMatchObject({ count: 87 });
        expect((await at.listOf(at.dave)).notifications).toEqual([]);
      }
    });

    test('responses to a form are counted for its editors, without the respondent', async () => {
      const definition = {
        sections: [{ id: 's', title: 'S', questions: [{ id: 'q', type: 'short_text', title: 'Q' }] }],
      };
      const { form } = (await at.alice.api.post('/forms', { title: 'Canteen', definition })).body;
      expect((await at.alice.api.post(`/forms/${form.id}/publish`, {})).status).toBe(200);
      const access = [
        { user_id: at.bob.id, role: 'editor' },
        { user_id: at.carol.id, role: 'respondent' },
      ];
      expect((await at.alice.api.put(`/forms/${form.id}/access`, { access })).status).toBe(200);
      for (const user of [at.bob, at.carol, at.carol]) {
        const { status } = await user.api.post(`/forms/${form.id}/submit`, { answers: { q: 'x' } });
        expect(status).toBe(201);
      }
      expect(await at.only(at.bob)).toMatchObject({
        title: '“Canteen” has 2 new responses',
        count: 2,
        actor: null,
      });
      expect(await at.only(at.alice)).toMatchObject({ count: 3 });
      await at.alice.api.post(`/forms/${form.id}/accepting`, { accepting: false });
      const [closed] = (await at.listOf(at.bob)).notifications;
      expect(closed).toMatchObject({ type: 'form.closed', title: 'Alice closed the form “Canteen”' });
      expect((await at.listOf(at.carol)).notifications).toEqual([]);
      const report = await at.alice.api.post(`/forms/${form.id}/reports`, {
        name: 'Weekly',
        definition: { columns: ['q'] },
      });
      expect(report.status).toBe(201);
      const path = `/forms/${form.id}/reports/${report.body.report.id}/share`;
      for (const viewers of [[{ user_id: at.carol.id }], [{ user_id: at.carol.id }, { user_id: at.bob.id }]])
        expect((await at.alice.api.post(path, { viewers })).status).toBe(200);
      expect(await at.only(at.carol)).toMatchObject({ title: 'Alice shared the report “Weekly” with you' });
    });

    test('events of a form that is deleted before their delivery notify neither its owner nor its editors', async () => {
      const questions = [{ id: 'q', type: 'short_text', title: 'Q' }];
      const definition = { sections: [{ id: 's', title: 'S', questions }] };
      const { form } = (await at.alice.api.post('/forms', { title: 'Canteen', definition })).body;
      await at.alice.api.post(`/forms/${form.id}/publish`, {});
      const access = [
        { user_id: at.bob.id, role: 'editor' },
        { user_id: at.carol.id, role: 'respondent' },
      ];
      expect((await at.alice.api.put(`/forms/${form.id}/access`, { access })).status).toBe(200);
      await at.drain();
      const release = await holdEvents(at.app);
      const submitted = await at.carol.api.post(`/forms/${form.id}/submit`, { answers: { q: 'x' } });
      const deleted = await at.alice.api.delete(`/forms/${form.id}`);
      expect([submitted.status, deleted.status]).toEqual([201, 200]);
      await release();
      for (const user of [at.alice, at.bob]) expect((await at.listOf(user)).notifications).toEqual([]);
    });

    test('an event that is delivered again and by two processes at once notifies once', async () => {
      const release = await holdEvents(at.app);
      await at.task();
      const [event] = await at.app.sql(`SELECT * FROM outbox WHERE type = 'task.assigned'`);
      await release();
      await Promise.all([at.drain(), at.drain(at.second)]);
      await at.app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload, occurred_at) VALUES ($1, $2, $3, $4, $5)`,
        [event.tenant_id, event.id, event.type, event.payload, event.occurred_at],
      );
      await Promise.all([at.drain(), at.drain(at.second)]);
      expect(await at.only()).toMatchObject({ count: 1 });
    });

    test('a rolled-back cause, unknown users and users who opted out have no notification', async () => {
      const type: NotificationType = {
        key: 'test.happened',
        lasts: 'always',
        preference: 'room.added',
        texts: { en: 'Happened', de: 'x', pt: 'x', vi: 'x' },
      };
      for (const each of [at.app, at.second]) each.get<Notifications>(Notifications).register(type);
      const recipients = [at.alice.id, at.bob.id, at.carol.id, uuidv7(), at.olaf.id];
      const cause = { recipients, actorId: at.alice.id, subject: null };
      const notify = (isFailing: boolean) =>
        at.app.get<Db>(Db).tx(async (tx) => {
          await at.app.get<Notifications>(Notifications).notify(tx, at.alice.tenantId!, type, cause);
          if (isFailing) throw new Error('rolled back');
        });
      await expect(notify(true)).rejects.toThrow('rolled back');
      expect((await at.listOf()).notifications).toEqual([]);
      await at.settings(at.carol, { types: { 'room.added': { in_app: false, email: false } } });
      await notify(false);
      expect(await at.only()).toMatchObject({ type: 'test.happened', title: 'Happened', subject: null });
      for (const user of [at.alice, at.carol, at.olaf])
        expect((await at.listOf(user)).notifications).toEqual([]);
    });
  });

  test('participants of an event are notified of the invitation, of a new time and of its end', async () => {
    const calendar = (await at.alice.api.get('/calendar')).body.calendars[0].id;
    const users = [at.bob, at.carol].map(({ email }) => ({ email }));
    const hours = (hour: number) => ({
      start: `2027-03-01T${hour}:00:00`,
      end: `2027-03-01T${hour + 1}:00:00`,
    });
    const created = await at.alice.api.post(`/calendar/${calendar}/events`, {
      title: 'Offsite',
      ...hours(10),
      time_zone: 'Europe/Berlin',
      attendees: users,
    });
    expect(created.status).toBe(201);
    const { id, revision } = created.body.event;
    expect(await at.only(at.bob)).toMatchObject({
      type: 'calendar.invited',
      title: 'Alice invited you to “Offsite”',
    });
    const path = `/calendar/${calendar}/events/${id}`;
    const moved = await at.alice.api.put(path, {
      ...hours(14),
      time_zone: 'Europe/Berlin',
      base_revision: revision,
    });
    expect(moved.status).toBe(200);
    expect((await at.listOf(at.bob)).notifications.map(({ type }: any) => type)).toEqual([
      'calendar.changed',
      'calendar.invited',
    ]);
    const renamed = await at.alice.api.put(path, {
      description: 'Bring shoes',
      base_revision: moved.body.event.revision,
    });
    expect(renamed.status).toBe(200);
    await at.app.sql(
      `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, 'calendar.reminder.due', $3)`,
      [
        at.alice.tenantId,
        uuidv7(),
        { event_id: id, user_id: at.alice.id, start: '2027-03-01T13:00:00Z', minutes: 10 },
      ],
    );
    expect(await at.only(at.alice)).toMatchObject({
      type: 'calendar.reminder',
      title: 'Reminder: “Offsite”',
    });
    expect((await at.alice.api.delete(path)).status).toBe(200);
    expect(await at.only(at.bob)).toMatchObject({
      type: 'calendar.cancelled',
      title: 'Alice cancelled “Offsite”',
    });
  });
});
