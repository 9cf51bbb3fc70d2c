import { simpleParser } from 'mailparser';
import { v7 as uuidv7 } from 'uuid';
import {
  NotificationMails,
  UserActivity,
} from '../../../src/modules/notifications/mails/notification-mails.js';
import { ReminderClock } from '../../../src/modules/calendar/reminders/reminder-clock.js';
import { defaultCalendar, newEvent } from '../../support/domains/calendars.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { NotificationTest } from '../../support/domains/notifications.ts';

describe('notifications', () => {
  const at = NotificationTest.use();

  describe('e-mail', () => {
    const bodies = () => at.relay.received.map(({ raw }) => raw);

    test('two processes send one e-mail with everything unread, in the language of the recipient', async () => {
      await at.bob.api.put('/settings/general-preferences', { language: 'de' });
      await at.task('Eins');
      await at.task('Zwei');
      await at.drain();
      expect(at.relay.received).toEqual([]);
      await at.app.sql('UPDATE notifications SET email_due_at = now() - make_interval(secs => 1)');
      await Promise.all(
        [at.app, at.second].map((each) => each.get<NotificationMails>(NotificationMails).run()),
      );
      await Promise.all([at.drain(), at.drain(at.second)]);
      await until('the e-mail', () => at.relay.received.length > 0);
      await at.mailDue();
      expect(at.relay.received).toHaveLength(1);
      const [mail] = at.relay.received;
      expect(mail!.to).toEqual([at.bob.email]);
      expect(mail!.raw).toContain('Subject: 2 neue Benachrichtigungen');
      expect(mail!.raw).toContain('https://work.example/tasks/');
      await at.bob.api.put('/settings/general-preferences', { language: null });
    });

    test('a reminder of an event has time and place, in the language and the zone of the recipient', async () => {
      await at.carol.api.put('/settings/general-preferences', { language: 'de' });
      await at.carol.api.put('/settings/profile', { timezone: 'Asia/Tokyo' });
      const calendar = await defaultCalendar(at.carol);
      const clock = at.app.get<ReminderClock>(ReminderClock);
      const textOf = async (fields: object, moment: string): Promise<string> => {
        at.relay.received.length = 0;
        const overrides = [{ method: 'email', minutes: 10 }];
        await newEvent(at.carol, calendar, { reminders: { use_default: false, overrides }, ...fields });
        await clock.tick(new Date(moment));
        await at.drain();
        await at.mailDue();
        await until('the e-mail', () => at.relay.received.length > 0);
        const { text = '' } = await simpleParser(at.relay.received[0]!.raw);
        return text;
      };
      const times = { start: '2099-03-02T09:00:00Z', end: '2099-03-02T10:00:00Z' };
      const timed = await textOf({ title: 'Treffen', location: 'Raum 3', ...times }, '2099-03-02T08:50:00Z');
      expect(timed).toContain('Erinnerung: „Treffen“');
      expect(timed).toMatch(/Montag, 2\. März 2099.*18:00.19:00.*\(Asia\/Tokyo\) · Raum 3/);
      const days = { start: '2099-04-06', end: '2099-04-08', all_day: true };
      const whole = await textOf({ title: 'Messe', ...days }, '2099-04-05T14:51:00Z');
      expect(whole).toMatch(/6\..*7\. April 2099/);
      expect(whole).not.toContain('Tokyo');
      await at.carol.api.put('/settings/general-preferences', { language: null });
      await at.carol.api.put('/settings/profile', { timezone: 'UTC' });
    });

    test('a user whose e-mails fail does not delay those of others', async () => {
      await at.task('For Bob', at.bob);
      await at.task('For Carol', at.carol);
      await at.drain();
      await at.app.sql('UPDATE notifications SET email_due_at = now() - make_interval(secs => 1)');
      const activity = at.app.get<UserActivity>(UserActivity);
      const isActive = activity.isActive.bind(activity);
      const mails = at.app.get<NotificationMails>(NotificationMails);
      activity.isActive = () => {
        activity.isActive = isActive;
        return Promise.reject(new Error('broken'));
      };
      await expect(mails.run()).rejects.toThrow('failed for 1 items');
      await at.drain();
      await until('the e-mail of the other user', () => at.relay.received.length === 1);
      await mails.run();
      await at.drain();
      expect(at.relay.received).toHaveLength(1);
      await at.mailDue();
      await until('the other e-mail', () => at.relay.received.length === 2);
      expect(new Set(at.relay.received.flatMap(({ to }) => to))).toEqual(
        new Set([at.bob.email, at.carol.email]),
      );
    });

    test('an active user gets no e-mail', async () => {
      const socket = await TestSocket.open(at.app, at.dave);
      try {
        await until('the presence', async () => {
          const { body } = await at.dave.api.get(`/presence/${at.dave.id}`);
          return JSON.stringify(body).includes('online');
        });
        await at.task('Active', at.dave);
        await at.drain();
        await at.mailDue();
        expect(at.relay.received).toEqual([]);
        const [row] = await at.app.sql('SELECT email_due_at > now() AS later FROM notifications');
        expect(row.later).toBe(true);
      } finally {
        socket.socket.close();
      }
    });

    test('a notification that was read, archived or switched off meanwhile is not sent', async () => {
      await at.task('Read');
      await at.task('Archived');
      await at.invite((await at.note('Off')).id, [at.bob]);
      const { notifications } = await at.listOf();
      expect(notifications).toHaveLength(3);
      const about = (title: string) => notifications.find((each: any) => each.title.includes(`“${title}”`));
      const [read, archived] = [about('Read'), about('Archived')];
      await at.bob.api.put(`/notifications/${read.id}/read`);
      await at.bob.api.put(`/notifications/${archived.id}/lifecycle`, { state: 'archived' });
      await at.settings(at.bob, { types: { 'note.shared': { email: false } } });
      await at.mailDue();
      expect(at.relay.received).toEqual([]);
      await at.settings(at.bob, { types: { 'note.shared': { email: true } } });
    });

    test('an e-mail that waits for delivery is not sent after they were switched off', async () => {
      await at.task('Late');
      await at.drain();
      await at.app.sql('UPDATE notifications SET email_due_at = now() - make_interval(secs => 1)');
      const release = await holdEvents(at.app);
      await at.app.get<NotificationMails>(NotificationMails).run();
      await at.settings(at.bob, { types: { 'task.*': { email: false } } });
      await release();
      await at.drain();
      const mails = await at.app.sql(`SELECT state FROM system_mails ORDER BY created_at DESC LIMIT 1`);
      expect(mails).toEqual([{ state: 'cancelled' }]);
      await at.settings(at.bob, { types: { 'task.*': { email: true } } });
    });

    test('a recipient who wants e-mail only gets one for later causes too', async () => {
      await at.settings(at.bob, { types: { 'task.*': { in_app: false } } });
      const { id } = await at.task('Silent');
      for (const body of ['one', 'two']) {
        await at.alice.api.post(`/tasks/${id}/comments`, { body });
        await at.drain();
        await at.mailDue();
      }
      const mails = await Promise.all(at.relay.received.map(({ raw }) => simpleParser(raw)));
      expect(mails.map(({ subject }) => subject)).toEqual([
        '2 new notifications',
        'Alice commented on “Silent”',
      ]);
      await at.settings(at.bob, { types: { 'task.*': { in_app: true } } });
    });

    test('quiet hours and digests delay it; a security message does not wait', async () => {
      const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
      await at.settings(at.carol, { quiet_hours: { ranges: [{ from: inHours(-1), to: inHours(2) }] } });
      await at.task('Quiet', at.carol);
      await at.drain();
      const [row] = await at.app.sql('SELECT email_due_at > now() AS later FROM notifications');
      expect(row.later).toBe(true);
      await at.mailDue();
      expect(at.relay.received).toEqual([]);
      await at.settings(at.carol, { quiet_hours: { ranges: [] }, digest: 'weekly' });
      await at.settings(at.bob, {
        quiet_hours: { ranges: [] },
        digest: 'off',
        types: {},
        channels: { email: false },
      });
      await at.app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, 'security.password_changed', $3)`,
        [at.bob.tenantId, uuidv7(), { user_id: at.bob.id, session_id: null, ip: null }],
      );
      await at.drain();
      const { id } = await at.only(at.bob);
      await at.bob.api.put(`/notifications/${id}/read`);
      await at.app.get<NotificationMails>(NotificationMails).run();
      await at.drain();
      const [mail] = await until('the mail', () => (at.relay.received.length > 0 ? bodies() : undefined));
      expect(mail).toContain('Subject: The password of your account was changed');
      expect(mail).not.toContain('List-Unsubscribe');
      expect(mail).toContain('https://work.example/settings/security');
      await at.settings(at.bob, { channels: { email: true } });
      await at.settings(at.carol, { digest: 'off' });
    });

    test('each security event has an e-mail of its own with its facts, in the language of the owner', async () => {
      await at.bob.api.put('/settings/general-preferences', {
        language: 'pt',
        timezone: 'America/Sao_Paulo',
      });
      const event = (type: string, facts: object) =>
        at.app.sql('INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, $3, $4)', [
          at.bob.tenantId,
          uuidv7(),
          type,
          { user_id: at.bob.id, session_id: null, ip: '192.0.2.7', ...facts },
        ]);
      await event('security.new_browser', { browser: 'Firefox', system: 'Windows' });
      await event('security.application_password_created', { description: 'Telefone', scopes: ['imap'] });
      await event('security.second_factor_disabled', { by_operator: true });
      await at.task('Comum');
      await at.drain();
      await at.mailDue();
      const mails = await Promise.all(at.relay.received.map(({ raw }) => simpleParser(raw)));
      expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
        'Alice atribuiu “Comum” a você',
        'O acesso em duas etapas foi desativado na sua conta',
        'Um novo navegador entrou na sua conta',
        'Uma senha de aplicativo foi criada para a sua conta',
      ]);
      const textOf = (start: string) => mails.find(({ subject }) => subject!.startsWith(start))!.text!;
      expect(textOf('Um novo navegador')).toMatch(/Hora: .* BRT\n/);
      expect(textOf('Um novo navegador')).toContain(
        'Endereço de rede: 192.0.2.7\nNavegador: Firefox em Windows',
      );
      expect(textOf('Uma senha')).toContain('Nome: Telefone');
      expect(textOf('O acesso')).toContain('O operador do serviço fez esta alteração.');
      for (const { text } of mails.filter(({ subject }) => !subject!.startsWith('Alice')))
        expect(text).toContain('https://work.example/settings/security');
      await at.bob.api.put('/settings/general-preferences', { language: null, timezone: null });
    });

    test('the link in an e-mail ends e-mails of its kind, after a confirmation or with one click', async () => {
      await at.task();
      await at.drain();
      await at.mailDue();
      const [mail = ''] = await until('the mail', () =>
        at.relay.received.length > 0 ? bodies() : undefined,
      );
      expect(mail).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
      const [, path = ''] =
        /^List-Unsubscribe: +<https:\/\/work\.example\/apis\/v1(\S+)>/m.exec(
          mail.replace(/\r\n(?=[ \t])/g, ''),
        ) ?? [];
      const page = await at.app.anonymous.get(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.text).toContain('Stop these e-mails?');
      const preferences = async () => (await at.bob.api.get('/settings/notifications')).body.preferences;
      expect((await preferences()).types['task.*'].email).toBe(true);
      const one = await at.app.anonymous.request('POST', path, {
        raw: 'List-Unsubscribe=One-Click',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(one.status).toBe(200);
      expect((await preferences()).types['task.*']).toEqual({ email: false, push: true, in_app: true });
      expect((await preferences()).channels.email).toBe(true);
      for (const forged of [`${path.slice(0, -3)}AAA`, '/notifications/unsubscribe/x', `${path}.x.y`])
        for (const method of ['GET', 'POST'])
          expect((await at.app.anonymous.request(method, forged)).status).toBe(
            forged.endsWith('.x.y') ? 200 : 404,
          );
      await at.settings(at.bob, { types: { 'task.*': { email: true } } });
    });
  });
});
