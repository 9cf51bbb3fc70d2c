import { spawn } from 'node:child_process';
import path from 'node:path';
import { createTransport, type Transporter } from 'nodemailer';
import { QueueWorker } from '../../../src/mail-service/delivery/queue.worker.js';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { Deliveries } from '../../../src/modules/calendar/scheduling/outgoing-messages.js';
import { CALENDAR_MAIL, CalendarMailIntake, MailApi, OwnMail } from '../../../src/modules/mail/index.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { Client } from '../../support/network/client.ts';
import { at, defaultCalendar, newEvent } from '../../support/domains/calendars.ts';
import { MailProxy } from '../../support/mail/mail-proxy.ts';
import { holdNextSend } from '../../support/mail/next-send.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { freePort } from '../../support/network/ports.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const ZOE = 'zoe@far.example';

/** Deliveries that a crash interrupts, and deliveries by another mail service than the embedded one. */
describe('the delivery of scheduling messages', () => {
  let world: OtherServer;
  let mail: TestMailService;
  let proxy: MailProxy;
  let app: TestApp;
  let ann: TestUser;
  let anns: string;
  let settings: Record<string, string>;
  let transport: Transporter;
  /** Another process of the installation, started after the first one is killed. */
  let worker: TestApp | undefined;

  beforeAll(async () => {
    world = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: world.url });
    const port = await mail.get(SmtpReceiver).listen(0);
    transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    proxy = await MailProxy.start(mail.url);
    settings = { ...mail.settings, MAIL_SERVICE_URL: proxy.url, MAIL_ACCOUNTS: 'create' };
    app = await TestApp.start(settings);
    [ann] = await app.tenant('acme', 'ann');
    await ann.api.get('/mail/users/me/mailboxes');
    anns = await defaultCalendar(ann);
    await app.get(OutboxWorker).onModuleDestroy();
  });
  afterEach(() => {
    proxy.hides = () => false;
    proxy.holds = () => false;
    proxy.fails = () => false;
    proxy.edits = (_path, value) => value;
    proxy.held = 0;
  });
  afterAll(async () => {
    transport?.close();
    await worker?.stop();
    await app?.stop();
    await proxy?.stop();
    await mail?.stop();
    await world?.stop();
  });

  const meeting = (person: TestUser, title: string) =>
    newEvent(person, anns, { title, start: at('2027-03-01T09:00:00'), attendees: [ZOE] });
  const message = async (event: { uid: string }) =>
    (await ann.api.get(`/calendar/${anns}/scheduling/messages?uid=${event.uid}&direction=out`)).body
      .messages[0];
  const subjectOf = (raw: string): string => /^Subject: (.*)$/m.exec(raw)?.[1] ?? '';
  const sentTo = (title: string) => world.received.filter(({ raw }) => subjectOf(raw).includes(title)).length;
  const leaseEnds = () =>
    app.sql(
      `UPDATE scheduling_deliveries SET due_at = now() - make_interval(secs => 1) WHERE status = 'queued'`,
    );
  const deliver = async () => {
    const other = await running();
    await other.get(OutboxWorker).drain();
    await other.get(Deliveries).run();
  };
  const running = async (): Promise<TestApp> => (worker ??= await TestApp.start(settings, app.databaseUrl));

  test('a process that is killed while it sends: another one finds the sent message and does not send it again', async () => {
    proxy.holds = (method, url) => method === 'POST' && url.endsWith('/submit');
    const port = await freePort();
    const env = {
      ...childEnv(),
      ...settings,
      DATABASE_URL: app.databaseUrl,
      DATA_DIR: app.dataDir,
    };
    const server = spawn(process.execPath, [path.join(ROOT, 'dist', 'main.js')], {
      cwd: ROOT,
      env: { ...env, DEMO: 'false', LOG_LEVEL: 'silent', PORT: String(port) },
      stdio: 'ignore',
    });
    try {
      const api = new Client(`http://127.0.0.1:${port}`, ann.token);
      await until('the server', async () => {
        const ready = await api.get('/calendar').catch(() => undefined);
        return ready?.status === 200;
      });
      const event = await meeting({ ...ann, api }, 'Killed while sending');
      await until('the submission', () => proxy.held > 0);
      server.kill('SIGKILL');
      expect(await message(event)).toMatchObject({ result: 'queued' });
      proxy.holds = () => false;
      await until('the mail', () => sentTo('Killed while sending') === 1);
      await leaseEnds();
      await deliver();
      expect(await message(event)).toMatchObject({
        result: 'sent',
        recipients: [{ email: ZOE, status: 'sent' }],
      });
      mail.get(QueueWorker).wake();
      expect((await mail.sql('SELECT count(*)::int AS n FROM queue'))[0].n).toBe(0);
      expect(sentTo('Killed while sending')).toBe(1);
    } finally {
      server.kill('SIGKILL');
    }
  });

  test('a message is stored but not submitted: its draft is submitted', async () => {
    proxy.hides = (method, url) => method === 'POST' && url.endsWith('/submit');
    const event = await meeting(ann, 'Stored only');
    await deliver();
    proxy.hides = () => false;
    // The state if the process of the first attempt had ended before it recorded the rejection.
    await app.sql(
      `UPDATE scheduling_deliveries SET status = 'queued', due_at = now() - make_interval(secs => 1) FROM scheduling_messages message
        WHERE message.id = message_id AND message.uid = $1`,
      [event.uid],
    );
    await deliver();
    await until('the mail', () => sentTo('Stored only') === 1);
    expect(await message(event)).toMatchObject({ result: 'sent' });
    const { body } = await ann.api.get('/mail/users/me/mailboxes');
    const drafts = body.results.find(({ specialUse }: any) => specialUse === '\\Drafts');
    const left = (await ann.api.get(`/mail/users/me/mailboxes/${drafts.id}/messages`)).body.results;
    expect(left.filter(({ subject }: any) => subject.includes('Stored only'))).toEqual([]);
  });

  test('while the mail service cannot list sent messages, a message that may have been sent waits', async () => {
    const event = await meeting(ann, 'Unknown outcome');
    await deliver();
    await until('the mail', () => sentTo('Unknown outcome') === 1);
    // The state if the process had ended before it recorded the delivery.
    await app.sql(
      `UPDATE scheduling_deliveries SET status = 'queued', due_at = now() - make_interval(secs => 1) FROM scheduling_messages message
        WHERE message.id = message_id AND message.uid = $1`,
      [event.uid],
    );
    proxy.fails = (method, url) => method === 'GET' && /\/messages\?/.test(url);
    await deliver();
    expect(await message(event)).toMatchObject({ result: 'queued', reason: 'mail_service_error' });
    proxy.fails = () => false;
    await leaseEnds();
    await deliver();
    expect(await message(event)).toMatchObject({ result: 'sent' });
    expect((await mail.sql('SELECT count(*)::int AS n FROM queue'))[0].n).toBe(0);
    expect(sentTo('Unknown outcome')).toBe(1);
  });

  test('a retry does not take the mail to a similar long address for its own', async () => {
    const recipients = ['one', 'two'].map((name) => `${'long-'.repeat(8)}${name}@far.example`);
    const start = at('2027-03-01T09:00:00');
    const event = await newEvent(ann, anns, { title: 'Similar addresses', start });
    const order = { method: 'PUBLISH', event_id: event.id, recipients };
    expect((await ann.api.post(`/calendar/${anns}/scheduling/outbox`, order)).body.error).toBeUndefined();
    const own = (await running()).get(OwnMail);
    const send = own.send.bind(own);
    own.send = async (owner, mail, isRepeated) => {
      if (mail.to === recipients[1] && !isRepeated) throw new Error('no connection');
      return send(owner, mail, isRepeated);
    };
    await deliver();
    expect(await message(event)).toMatchObject({ recipients: [{ status: 'sent' }, { status: 'queued' }] });
    await leaseEnds();
    await deliver();
    own.send = send;
    expect(await message(event)).toMatchObject({ result: 'sent' });
    mail.get(QueueWorker).wake();
    await until(
      'an empty queue',
      async () => (await mail.sql('SELECT count(*)::int AS n FROM queue'))[0].n === 0,
    );
    const mails = world.received.filter(({ raw }) => subjectOf(raw).includes('Similar addresses'));
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual(recipients);
  });

  test('a slow delivery does not claim the next one', async () => {
    for (const title of ['Slow', 'Next']) await meeting(ann, title);
    const other = await running();
    await other.get(OutboxWorker).drain();
    const { started, finish } = holdNextSend(other);
    const run = other.get(Deliveries).run();
    await started;
    const attempts = await app.sql(
      `SELECT attempts FROM scheduling_deliveries WHERE status = 'queued' ORDER BY attempts`,
    );
    finish();
    await run;
    expect(attempts).toEqual([{ attempts: 0 }, { attempts: 1 }]);
    await until('both mails', () => sentTo('Slow') === 1 && sentTo('Next') === 1);
  });

  test('an unavailable mail service is retried; a rejection is final and shown at the attendee', async () => {
    proxy.hides = (method, url) => method === 'POST' && url.endsWith('/messages');
    const event = await meeting(ann, 'Rejected');
    await deliver();
    expect(await message(event)).toMatchObject({
      result: 'failed',
      reason: 'rejected',
      recipients: [{ status: 'failed', error: 'rejected', sent_at: null }],
    });
    const seen = (await ann.api.get(`/calendar/${anns}/events/${event.id}`)).body.event;
    expect(seen.attendees[0]).toMatchObject({ email: ZOE, delivery: 'failed' });
    const series = await newEvent(ann, anns, {
      title: 'One date',
      start: at('2027-03-01T09:00:00'),
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'] },
    });
    const instance = `/calendar/${anns}/events/${series.id}_20270308T080000Z`;
    await ann.api.put(instance, { attendees: [ZOE] });
    await deliver();
    const { attendees } = (await ann.api.get(instance)).body.event;
    expect(attendees).toMatchObject([{ email: ZOE, delivery: 'failed' }]);
    await proxy.stop();
    const later = await meeting(ann, 'Later');
    await deliver();
    expect(await message(later)).toMatchObject({ result: 'queued', recipients: [{ status: 'queued' }] });
    expect((await message(later)).reason).toEqual(expect.any(String));
    const port = Number(new URL(settings['MAIL_SERVICE_URL']!).port);
    proxy = await MailProxy.start(mail.url, port);
    await leaseEnds();
    await deliver();
    await until('the mail', () => sentTo('Later') === 1);
    expect(await message(later)).toMatchObject({ result: 'sent', reason: null });
  });

  test('a mail service without the list of calendars: inboxes are searched, from where the last search ended', async () => {
    const event = await meeting(ann, 'Searched');
    await deliver();
    proxy.hides = (_method, url) => url.startsWith('/calendar-parts');
    const other = await running();
    const intake = other.get(CalendarMailIntake);
    const reply = async (partstat: string, dtstamp: string) => {
      const content = [
        'BEGIN:VCALENDAR',
        'METHOD:REPLY',
        'BEGIN:VEVENT',
        `UID:${event.uid}`,
        `DTSTAMP:${dtstamp}`,
        `ATTENDEE;PARTSTAT=${partstat}:mailto:${ZOE}`,
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n');
      const alternatives = [{ contentType: 'text/calendar; method=REPLY', content }];
      await transport.sendMail({ from: ZOE, to: ann.email, subject: partstat, text: 'x', alternatives });
      await transport.sendMail({ from: ZOE, to: ann.email, subject: 'plain', text: 'x' });
    };
    const response = async () =>
      (await ann.api.get(`/calendar/${anns}/events/${event.id}`)).body.event.attendees[0].response;
    // Mail from before the first search stays untouched.
    await reply('DECLINED', '20270101T090000Z');
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('needs_action');
    await reply('ACCEPTED', '20270101T100000Z');
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('accepted');
    await intake.run();
    await other.get(OutboxWorker).drain();
    const log = (await ann.api.get(`/calendar/${anns}/scheduling/messages?uid=${event.uid}&direction=in`))
      .body.messages;
    expect(log.map(({ result }: any) => result)).toEqual(['reply_recorded']);
    // More messages than one run reads: later runs read the older ones, and then the ones that arrived meanwhile.
    Object.assign(intake.limits, { messages: 2, pages: 1 });
    await reply('DECLINED', '20270101T110000Z');
    for (let n = 0; n < 2; n += 1)
      await transport.sendMail({ from: ZOE, to: ann.email, subject: 'plain', text: 'x' });
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('accepted');
    await reply('TENTATIVE', '20270101T120000Z');
    await intake.run();
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('declined');
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('tentative');
    await intake.run();
    const walks = await app.sql('SELECT next_page FROM mail_calendar_scans');
    expect(walks).toEqual([{ next_page: null }]);
    // A message that the mail service cannot return now is read later. If it never can, later messages wait for an hour at most.
    proxy.fails = (_method, url) => /\/messages\/\d+$/.test(url);
    await reply('ACCEPTED', '20270101T123000Z');
    for (let n = 0; n < 2; n += 1) await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('tentative');
    proxy.fails = () => false;
    await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('accepted');
    // A sender may write any Message-ID.
    proxy.edits = (path, value) =>
      /\/messages\/\d+$/.test(path) ? { ...value, messageId: '<a\0b@far.example>' } : value;
    await reply('DECLINED', '20270101T123500Z');
    for (let n = 0; n < 2; n += 1) await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('declined');
    proxy.edits = (_path, value) => value;
    const { retryMs } = intake.limits;
    Object.assign(intake.limits, { retryMs: 0 });
    proxy.fails = (_method, url) => /\/messages\/\d+$/.test(url);
    await reply('ACCEPTED', '20270101T124000Z');
    for (let n = 0; n < 3; n += 1) await intake.run();
    proxy.fails = () => false;
    Object.assign(intake.limits, { retryMs });
    await reply('TENTATIVE', '20270101T125000Z');
    for (let n = 0; n < 3; n += 1) await intake.run();
    await other.get(OutboxWorker).drain();
    expect(await response()).toBe('tentative');
    // Results of SPF and DKIM, as WildDuck reports them: the domain of From has to be verified.
    const latest = async () =>
      (await ann.api.get(`/calendar/${anns}/scheduling/messages?uid=${event.uid}&direction=in`)).body
        .messages[0];
    const verified = async (results: object, partstat: string, dtstamp: string) => {
      proxy.edits = (path, value) =>
        /\/messages\/\d+$/.test(path) ? { ...value, verificationResults: results } : value;
      await reply(partstat, dtstamp);
      for (let n = 0; n < 3; n += 1) await intake.run();
      await other.get(OutboxWorker).drain();
      const { result, reason } = await latest();
      return [result, reason, await response()];
    };
    expect(
      await verified({ tls: false, spf: 'evil.example', dkim: false }, 'ACCEPTED', '20270101T130000Z'),
    ).toEqual(['rejected', 'sender_not_authenticated', 'tentative']);
    expect(
      await verified({ tls: false, spf: false, dkim: 'mail.far.example' }, 'ACCEPTED', '20270101T140000Z'),
    ).toEqual(['reply_recorded', null, 'accepted']);
    // A verified domain proves nothing in a mail with two senders: programs differ in which of them they verify and show.
    const ofTwo = (...values: string[]) => {
      const headers = values.map((value) => ({ key: 'from', value }));
      proxy.edits = (path, value) =>
        /\/messages\/\d+$/.test(path)
          ? { ...value, headers, verificationResults: { tls: false, spf: false, dkim: 'far.example' } }
          : value;
    };
    for (const [n, values] of [[ZOE, 'eve@evil.example'], [`${ZOE}, eve@evil.example`]].entries()) {
      ofTwo(...values);
      await reply('DECLINED', `20270101T14${n + 1}000Z`);
      for (let k = 0; k < 3; k += 1) await intake.run();
      await other.get(OutboxWorker).drain();
      const { result, reason } = await latest();
      expect([result, reason, await response()]).toEqual([
        'rejected',
        'sender_not_authenticated',
        'accepted',
      ]);
    }
    // The owner of the mailbox applies a rejected mail.
    proxy.edits = (path, value) =>
      /\/messages\/\d+$/.test(path) ? { ...value, verificationResults: { spf: false, dkim: false } } : value;
    await reply('DECLINED', '20270101T150000Z');
    const { results } = (await ann.api.get('/mail/users/me/mailboxes')).body;
    const inbox = results.find(({ path: name }: any) => name === 'INBOX').id;
    const listed = (await ann.api.get(`/mail/users/me/mailboxes/${inbox}/messages?limit=5`)).body.results;
    const newest = listed.find(({ subject }: any) => subject === 'DECLINED');
    const message = { mailbox: inbox, id: newest.id };
    const taken = await ann.api.post(`/calendar/${anns}/scheduling/inbox`, { message });
    expect([taken.status, taken.body.message.result, await response()]).toEqual([
      200,
      'reply_recorded',
      'declined',
    ]);
  });

  describe('the search of an inbox', () => {
    let intake: CalendarMailIntake;
    let bob: TestUser;
    let n = 0;
    /** Message-IDs of the calendars of bob that the search has appended to the outbox. */
    let taken: string[];
    let restore: () => void;

    beforeEach(async () => {
      n += 1;
      [bob] = await app.tenant(`searched-${n}`, 'bob');
      await bob.api.get('/mail/users/me/mailboxes');
      proxy.hides = (_method, url) => url.startsWith('/calendar-parts');
      const other = await running();
      intake = other.get(CalendarMailIntake);
      const limits = { ...intake.limits };
      const outbox = other.get(Outbox);
      const append = outbox.append.bind(outbox);
      taken = [];
      outbox.append = async (tx, event) => {
        if (event.type === CALENDAR_MAIL && event.payload['user_id'] === bob.id)
          taken.push(String(event.payload['message_id']));
        return append(tx, event);
      };
      restore = () => {
        outbox.append = append;
        Object.assign(intake.limits, limits);
      };
    });
    afterEach(() => restore());

    const send = async (messageId: string, to = bob.email, isCalendar = true) => {
      const content = 'BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nEND:VCALENDAR\r\n';
      const alternatives = isCalendar ? [{ contentType: 'text/calendar; method=REPLY', content }] : [];
      await transport.sendMail({ from: ZOE, to, messageId, subject: 'x', text: 'x', alternatives });
    };
    const runs = async (count: number) => {
      for (let run = 0; run < count; run += 1) await intake.run();
    };

    test('begins again when another account is linked, whose messages have lower ids', async () => {
      for (const name of ['a', 'b', 'c']) await send(`<${name}@far.example>`, bob.email, false);
      await runs(2);
      const [first] = await app.sql('SELECT mail_user_id FROM mail_accounts WHERE user_id = $1', [bob.id]);
      await mail.person('second', 'linked.example');
      const owner = { tenantId: bob.tenantId!, userId: bob.id };
      const other = await running();
      await other.get(MailApi).linkAccount(owner, 'second.linked.example', 'Pa55-second-word');
      expect((await mail.root.delete(`/users/${first.mail_user_id}`)).status).toBe(200);
      await runs(2);
      await send('<linked@far.example>', 'second@linked.example');
      await runs(1);
      expect(taken).toEqual(['<linked@far.example>']);
    });

    test('begins with the newest message, also after a failed first attempt', async () => {
      await send('<earlier@far.example>');
      proxy.fails = (_method, url) => /\/messages\?/.test(url);
      await runs(1);
      proxy.fails = () => false;
      await runs(1);
      await send('<later@far.example>');
      await runs(1);
      expect(taken).toEqual(['<later@far.example>']);
    });

    test('continues behind a message that cannot be read for a while, and appends no calendar twice', async () => {
      await runs(1);
      await send('<older@far.example>');
      await send('<newer@far.example>');
      const { results } = (await bob.api.get('/mail/users/me/mailboxes')).body;
      const inbox = results.find(({ path: name }: any) => name === 'INBOX').id;
      const listed = (await bob.api.get(`/mail/users/me/mailboxes/${inbox}/messages`)).body.results;
      const { id } = listed.find(({ messageId }: any) => messageId === '<older@far.example>');
      Object.assign(intake.limits, { messages: 1, pages: 1 });
      proxy.fails = (_method, url) => url.endsWith(`/messages/${id}`);
      await runs(5);
      expect(taken).toEqual(['<newer@far.example>']);
      proxy.fails = () => false;
      await runs(2);
      expect(taken).toEqual(['<newer@far.example>', '<older@far.example>']);
    });
  });
});
