import { v7 as uuidv7 } from 'uuid';
import { QueueWorker } from '../../../src/mail-service/delivery/queue.worker.js';
import { Deliveries, OutgoingMessages } from '../../../src/modules/calendar/scheduling/outgoing-messages.js';
import { SchedulingRepository } from '../../../src/modules/calendar/scheduling/scheduling.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { at, defaultCalendar, eventPath, newEvent } from '../../support/domains/calendars.ts';
import { MailProxy } from '../../support/mail/mail-proxy.ts';
import { holdNextSend, replaceNextSend } from '../../support/mail/next-send.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const ZOE = 'zoe@far.example';
const LIMIT = 60;

/** Many mails about meetings: their order at an attendee, the daily limit of their sender, and attempts whose outcome is unknown. */
describe('the order of mails about a meeting', () => {
  let world: OtherServer;
  let mail: TestMailService;
  let proxy: MailProxy;
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let calendar: string;

  beforeAll(async () => {
    world = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: world.url, MAIL_DAILY_RECIPIENTS: String(LIMIT) });
    proxy = await MailProxy.start(mail.url);
    app = await TestApp.start({ ...mail.settings, MAIL_SERVICE_URL: proxy.url, MAIL_ACCOUNTS: 'create' });
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    for (const person of [ann, bob]) await person.api.get('/mail/users/me/mailboxes');
    calendar = await defaultCalendar(ann);
    // Deliveries run when a test runs them.
    await app.get(PeriodicJobs).stop();
  });
  beforeEach(async () => {
    proxy.hides = () => false;
    proxy.fails = () => false;
    await mail.sql('UPDATE users SET sent_count = 0');
  });
  afterAll(async () => {
    await app?.stop();
    await proxy?.stop();
    await mail?.stop();
    await world?.stop();
  });

  interface Meeting {
    id: string;
    uid: string;
  }
  const meeting = (title: string): Promise<Meeting> =>
    newEvent(ann, calendar, { title, start: at('2027-03-01T09:00:00'), attendees: [ZOE] });
  const compose = () => app.get(OutboxWorker).drain();
  const deliver = async () => {
    await compose();
    await app.get(Deliveries).run();
  };
  const rename = async (event: Meeting, title: string) => {
    expect((await ann.api.put(eventPath(calendar, event), { title })).status).toBe(200);
    await compose();
  };
  const remove = async (event: Meeting) => {
    expect((await ann.api.delete(eventPath(calendar, event), {})).status).toBe(200);
    await compose();
  };
  /** Ends all pauses, those of later messages first. */
  const pausesEnd = () =>
    app.sql(
      `UPDATE scheduling_deliveries delivery SET due_at = now() - make_interval(secs => 10 + latest.position)
         FROM (SELECT message_id, row_number() OVER (ORDER BY message_id) AS position FROM scheduling_deliveries) AS latest
        WHERE latest.message_id = delivery.message_id AND status = 'queued'`,
    );
  const log = async ({ uid }: Meeting): Promise<string[]> => {
    const path = `/calendar/${calendar}/scheduling/messages?uid=${uid}&direction=out`;
    return (await ann.api.get(path)).body.messages
      .map(({ method, result, reason }: any) => [method, result, reason].filter(Boolean).join(' '))
      .toReversed();
  };
  /** The mails about an event that left the workspace, in their order: METHOD and SUMMARY. */
  const sent = async ({ uid }: Meeting): Promise<string[]> => {
    mail.get(QueueWorker).wake();
    await until(
      'an empty queue',
      async () => (await mail.sql('SELECT count(*)::int AS n FROM queue'))[0].n === 0,
    );
    return world.received.flatMap(({ raw }) => {
      const parts = raw
        .split(/\r\n--[^\r\n]*\r\n/)
        .filter((part) => /^content-type: text\/calendar/i.test(part));
      const texts = parts.map((part) => {
        const [head = '', ...body] = part.split('\r\n\r\n');
        const text = body.join('\r\n\r\n');
        return /base64/i.test(head) ? Buffer.from(text, 'base64').toString() : text.replaceAll('=\r\n', '');
      });
      const text = texts.find((each) => each.replaceAll('\r\n ', '').includes(uid)) ?? '';
      return text
        ? [`${/^METHOD:(.*)$/m.exec(text)?.[1]?.trim()} ${/^SUMMARY:(.*)$/m.exec(text)?.[1]?.trim()}`]
        : [];
    });
  };
  const boxOf = async (specialUse: string): Promise<string> => {
    const { results } = (await ann.api.get('/mail/users/me/mailboxes')).body;
    return results.find((box: any) => box.specialUse === specialUse).id;
  };
  /** Fails the next attempt to send as a mail service does that is not available. */
  const failOnce = () =>
    replaceNextSend(app, async () => ({ kind: 'retry', reason: 'mail_service_busy', isLimit: false }));

  test('a later version waits while an earlier one is retried, and a cancellation for both', async () => {
    const event = await meeting('First');
    await compose();
    failOnce();
    await deliver();
    await rename(event, 'Second');
    await deliver();
    await remove(event);
    await deliver();
    expect(await sent(event)).toEqual([]);
    expect(await log(event)).toEqual(['REQUEST queued mail_service_busy', 'REQUEST queued', 'CANCEL queued']);
    await pausesEnd();
    await deliver();
    expect(await log(event)).toEqual(['REQUEST sent', 'REQUEST sent', 'CANCEL sent']);
    expect(await sent(event)).toEqual(['REQUEST First', 'REQUEST Second', 'CANCEL Second']);
    const [{ attempts }] = await app.sql(
      `SELECT max(attempts) AS attempts FROM scheduling_deliveries JOIN scheduling_messages message ON message.id = message_id
        WHERE uid = $1 AND method = 'CANCEL'`,
      [event.uid],
    );
    expect(attempts).toBe(1);
  });

  test('a mail that is retried does not hold up the mail of another member about the event', async () => {
    const event = await meeting('Two members');
    await compose();
    const [message] = await app.sql(`SELECT * FROM scheduling_messages WHERE uid = $1`, [event.uid]);
    const other = { ...message, id: uuidv7(), user_id: bob.id, dedupe_key: `test ${event.uid}` };
    const outgoing = app.get(OutgoingMessages);
    await app.get(Db).tx((tx) => outgoing.store(tx, ann.tenantId!, other, [ZOE], true));
    failOnce();
    await deliver();
    expect((await log(event)).toSorted()).toEqual(['REQUEST queued mail_service_busy', 'REQUEST sent']);
    await pausesEnd();
    await deliver();
    expect(await log(event)).toEqual(['REQUEST sent', 'REQUEST sent']);
  });

  test('an attempt whose lease has expired does not replace the outcome of a later one', async () => {
    const event = await meeting('Two attempts');
    await compose();
    const repository = app.get(SchedulingRepository);
    const early = (await repository.claim(-1))!;
    const late = (await repository.claim(300))!;
    expect(late).toMatchObject({ message_id: early.message_id, attempts: early.attempts + 1 });
    await repository.conclude(early, 'failed', 'mail_service_busy', 0);
    expect(await log(event)).toEqual(['REQUEST queued']);
    await repository.conclude(late, 'sent', null, 0);
    expect(await log(event)).toEqual(['REQUEST sent']);
  });

  describe('a cancellation that is composed after its recipient was invited again', () => {
    const invite = async (path: string, attendees: string[], more: object = {}) =>
      expect((await ann.api.put(path, { attendees, ...more })).status).toBe(200);
    const cancel = async (event: Meeting, key: string) => {
      const placed = await app.get(SchedulingRepository).findPlaced(app.get(Db), ann.tenantId!, event.id);
      const order = { tenantId: ann.tenantId!, method: 'CANCEL' as const, key, recipients: [ZOE] };
      const rest = { comment: '', proposal: null, actorId: ann.id, cause: null, now: new Date() };
      return () => app.get(OutgoingMessages).queue(placed!, { ...order, ...rest });
    };

    test('is not sent, for an event', async () => {
      const event = await meeting('Here again');
      await deliver();
      await invite(eventPath(calendar, event), [], { send_updates: 'none' });
      const cancelLate = await cancel(event, '');
      await invite(eventPath(calendar, event), [ZOE]);
      await deliver();
      expect(await cancelLate()).toBeNull();
      await deliver();
      expect(await sent(event)).toEqual(['REQUEST Here again', 'REQUEST Here again']);
    });

    test('is not sent, for an instance', async () => {
      const start = at('2027-03-01T09:00:00');
      const recurrence = { rules: ['FREQ=WEEKLY;COUNT=3'] };
      const event: Meeting = await newEvent(ann, calendar, { title: 'Date again', start, recurrence });
      const path = `${eventPath(calendar, event)}_20270308T080000Z`;
      await invite(path, [ZOE]);
      await deliver();
      const [{ key }] = await app.sql(
        'SELECT recurrence_key AS key FROM event_participants WHERE event_id = $1 AND email = $2',
        [event.id, ZOE],
      );
      await invite(path, [], { send_updates: 'none' });
      const cancelLate = await cancel(event, key);
      await invite(path, [ZOE]);
      await deliver();
      expect(await cancelLate()).toBeNull();
      await deliver();
      expect(await sent(event)).toEqual(['REQUEST Date again', 'REQUEST Date again']);
    });

    test('is sent to a recipient who was not', async () => {
      const event = await meeting('Gone');
      await deliver();
      await invite(eventPath(calendar, event), []);
      await deliver();
      expect(await sent(event)).toEqual(['REQUEST Gone', 'CANCEL Gone']);
    });
  });

  test('a process does not send a later version while another one sends an earlier one', async () => {
    const event = await meeting('Slow first');
    await compose();
    const { started, finish } = holdNextSend(app);
    const first = app.get(Deliveries).run();
    await started;
    await rename(event, 'Quick second');
    await deliver();
    expect(await sent(event)).toEqual([]);
    finish();
    await first;
    expect(await sent(event)).toEqual(['REQUEST Slow first', 'REQUEST Quick second']);
    expect(await log(event)).toEqual(['REQUEST sent', 'REQUEST sent']);
  });

  test('a version that was read before the event changed is not queued after the later one', async () => {
    const event = await meeting('Read early');
    const repository = app.get(SchedulingRepository);
    const placed = await repository.findPlaced(app.get(Db), ann.tenantId!, event.id);
    await rename(event, 'Changed meanwhile');
    const order = { tenantId: ann.tenantId!, key: '', recipients: [ZOE], comment: '', proposal: null };
    const rest = { method: 'REQUEST' as const, actorId: ann.id, cause: null, now: new Date() };
    expect(await app.get(OutgoingMessages).queue(placed!, { ...order, ...rest })).toBeNull();
    const byHand = { ...order, ...rest, isByHand: true };
    await expect(app.get(OutgoingMessages).queue(placed!, byHand)).rejects.toMatchObject({
      kind: { status: 409, code: 'method_not_applicable' },
    });
    await deliver();
    expect(await sent(event)).toEqual(['REQUEST Changed meanwhile']);
  });

  test('beyond the daily limit, mails wait without drafts, and the mail service is asked once for all', async () => {
    const path = `/mail/users/me/mailboxes/${await boxOf('\\Drafts')}/messages`;
    const drafts = async () => (await ann.api.get(path)).body.results.length;
    const earlier = await drafts();
    await mail.sql('UPDATE users SET sent_count = $1, sent_since = now()', [LIMIT - 1]);
    const events: Meeting[] = [];
    for (const name of ['One', 'Two', 'Three', 'Four']) events.push(await meeting(name));
    let submissions = 0;
    proxy.hides = (method, url) => {
      if (method === 'POST' && url.endsWith('/submit')) submissions += 1;
      return false;
    };
    await deliver();
    expect(submissions).toBe(2);
    const limited = 'REQUEST queued RateLimitedError';
    expect((await Promise.all(events.map(log))).flat()).toEqual(['REQUEST sent', limited, limited, limited]);
    expect(await drafts()).toBe(earlier);
    await rename(events[1]!, 'Two again');
    await remove(events[2]!);
    await deliver();
    await mail.sql('UPDATE users SET sent_count = 0');
    await pausesEnd();
    await deliver();
    expect(await Promise.all(events.map(sent))).toEqual([
      ['REQUEST One'],
      ['REQUEST Two', 'REQUEST Two again'],
      ['REQUEST Three', 'CANCEL Three'],
      ['REQUEST Four'],
    ]);
    expect(await drafts()).toBe(earlier);
  });

  test('an attempt whose outcome is unknown finds its mail behind hundreds of newer ones', async () => {
    const event = await meeting('Deep in Sent');
    await deliver();
    expect(await sent(event)).toEqual(['REQUEST Deep in Sent']);
    const [account] = await app.sql('SELECT mail_user_id FROM mail_accounts WHERE user_id = $1', [ann.id]);
    const path = `/users/${account.mail_user_id}/mailboxes/${await boxOf('\\Sent')}/messages`;
    for (let n = 0; n < 220; n += 1) {
      const raw = `Message-ID: <newer-${n}@far.example>\r\nSubject: newer\r\n\r\nx`;
      expect((await mail.root.post(path, { raw })).status).toBe(200);
    }
    // The state if the process had ended before it recorded the delivery.
    await app.sql(
      `UPDATE scheduling_deliveries SET status = 'queued', due_at = now() - make_interval(secs => 1) FROM scheduling_messages message
        WHERE message.id = message_id AND message.uid = $1`,
      [event.uid],
    );
    await deliver();
    expect(await log(event)).toEqual(['REQUEST sent']);
    expect(await sent(event)).toEqual(['REQUEST Deep in Sent']);
  });
});
