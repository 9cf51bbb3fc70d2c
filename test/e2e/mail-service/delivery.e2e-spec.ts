import { LocalDelivery } from '../../../src/mail-service/delivery/local-delivery.js';
import { OutgoingRelay } from '../../../src/mail-service/delivery/outgoing-relay.js';
import type { Entry } from '../../../src/mail-service/delivery/queue.repository.js';
import { QueueWorker } from '../../../src/mail-service/delivery/queue.worker.js';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { streamOf } from '../../../src/mail-service/storage/bytes.js';
import { RawMessages } from '../../../src/mail-service/storage/raw-messages.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { dripServer, OtherServer, sendBySmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const box = (id: string | undefined): string => `/users/me/mailboxes/${id}`;

async function submit(
  person: MailClient,
  { sendTime, ...fields }: Record<string, unknown>,
): Promise<{ queueId: string; message: { id: number } }> {
  const boxes = await mailboxesOf(person);
  const drafts = `${box(boxes['Drafts'])}/messages`;
  const { body: made } = await person.post(drafts, { draft: true, text: 'text', ...fields });
  const { status, body } = await person.post(`${drafts}/${made.message.id}/submit`, { sendTime });
  expect([status, body]).toEqual([200, expect.objectContaining({ success: true })]);
  return body;
}

async function inboxOf(person: MailClient): Promise<any[]> {
  const boxes = await mailboxesOf(person);
  return (await person.get(`${box(boxes['INBOX'])}/messages`)).body.results;
}

async function arrived(person: MailClient, subject: string): Promise<any> {
  const boxes = await mailboxesOf(person);
  const value = await until(subject, async () =>
    (await inboxOf(person)).find((row) => row.subject === subject),
  );
  return (await person.get(`${box(boxes['INBOX'])}/messages/${value.id}`)).body;
}

describe('without a relay', () => {
  let mail: TestMailService;
  let alice: MailClient;

  beforeAll(async () => {
    mail = await TestMailService.start();
    alice = await mail.person('alice');
  });
  afterAll(() => mail?.stop());

  const queue = () => mail.sql('SELECT recipient, due_at > now() AS waits FROM queue ORDER BY recipient');

  test('mail for outside recipients bounces with a delivery status notification', async () => {
    await submit(alice, { to: [{ address: 'someone@elsewhere.example' }], subject: 'Far away ✓' });
    const report = await arrived(alice, 'Undelivered mail returned to sender');
    expect(report).toMatchObject({
      from: { address: 'MAILER-DAEMON@example.com', name: 'Mail Delivery System' },
      envelope: { from: '' },
      contentType: { value: 'multipart/report', params: { 'report-type': 'delivery-status' } },
    });
    expect(report.text).toMatch(
      /could not be delivered.*someone@elsewhere\.example.*Far away ✓.*no outgoing server/s,
    );
    const boxes = await mailboxesOf(alice);
    const source = (
      await alice.get(`${box(boxes['INBOX'])}/messages/${report.id}/message.eml`)
    ).bytes.toString();
    expect(source).toMatch(
      /Final-Recipient: rfc822; someone@elsewhere\.example\r\nAction: failed\r\nStatus: 5\.4\.4/,
    );
    await until('the empty queue', async () => (await queue()).length === 0);
  });

  test('mail for a member without a mailbox waits for the mailbox', async () => {
    await submit(alice, { to: [{ address: 'newcomer@example.com' }], subject: 'Welcome' });
    await until('the first attempt', async () => (await queue())[0]?.waits === true);
    const newcomer = await mail.person('newcomer');
    expect(await arrived(newcomer, 'Welcome')).toMatchObject({ from: { address: 'alice@example.com' } });
    expect((await inboxOf(alice)).filter(({ subject }) => /Undelivered/.test(subject))).toHaveLength(1);
  });

  test('mail to an unknown address of an own domain is reported within a minute', async () => {
    await submit(alice, { to: [{ address: 'nobody@example.com' }], subject: 'Typo' });
    const waiting = async () =>
      (
        await mail.sql(
          `SELECT attempts, ceil(extract(epoch FROM due_at - now()))::int AS seconds FROM queue
            WHERE recipient = 'nobody@example.com' AND worker IS NULL AND due_at > now()`,
        )
      )[0] as { attempts: number; seconds: number } | undefined;
    const reported = async () =>
      (await inboxOf(alice)).some(({ intro }) => /nobody@example\.com/.test(intro));
    let seconds = 0;
    for (let attempt = 1; !(await reported()); attempt += 1) {
      const next = await until(`attempt ${attempt} or the report`, async () => {
        const row = await waiting();
        return row?.attempts === attempt ? row : (await reported()) && { seconds: 0 };
      });
      seconds += next.seconds;
      await mail.sql(
        `UPDATE queue SET due_at = now() - make_interval(secs => 1) WHERE recipient = 'nobody@example.com'`,
      );
      mail.get(QueueWorker).wake();
    }
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  test('a message with sendTime stays in the queue until then', async () => {
    const sendTime = '2099-01-01T10:00:00.000Z';
    const { queueId, message } = await submit(alice, {
      to: [{ address: 'alice@example.com' }],
      subject: 'Later',
      sendTime,
    });
    const boxes = await mailboxesOf(alice);
    const drafts = `${box(boxes['Drafts'])}/messages`;
    const { body: made } = await alice.post(drafts, { draft: true, to: [{ address: 'alice@example.com' }] });
    // A time that RFC 3339 cannot represent (year 10000).
    const never = await alice.post(`${drafts}/${made.message.id}/submit`, { sendTime: 253_402_300_800_000 });
    expect([never.status, never.body.code]).toEqual([400, 'InputValidationError']);
    const { body } = await alice.get(`${box(boxes['Sent Mail'])}/messages/${message.id}`);
    expect(body).toMatchObject({ date: sendTime, outbound: [{ queueId }], draft: false });
    await mail.sql('UPDATE queue SET due_at = now() - make_interval(secs => 1) WHERE id = $1', [queueId]);
    mail.get(QueueWorker).wake();
    expect((await arrived(alice, 'Later')).date).toBe(sendTime);
    const after = await alice.get(`${box(boxes['Sent Mail'])}/messages/${message.id}`);
    expect(after.body.outbound).toBeUndefined();
  });

  test('the retention of a scheduled message begins at its sendTime', async () => {
    const sendTime = Date.parse('2099-01-01T10:00:00.000Z');
    const day = 86_400_000;
    const grace = await mail.person('grace');
    const sent = box((await mailboxesOf(grace))['Sent Mail']);
    expect((await grace.put(sent, { retention: day })).status).toBe(200);
    const to = [{ address: 'alice@example.com' }];
    const { message } = await submit(grace, { to, subject: 'In time', sendTime });
    const { body } = await grace.get(`${sent}/messages/${message.id}`);
    // An expired message is deleted, which cancels its delivery.
    expect(Math.round((Date.parse(body.expires) - sendTime) / day)).toBe(1);
  });

  test('mail to an account that is deleted during its delivery is retried', async () => {
    const local = mail.get<LocalDelivery>(LocalDelivery);
    const raw = streamOf(Buffer.from('Subject: Late\r\n\r\ntext'));
    const rawId = await mail.get<RawMessages>(RawMessages).put(raw);
    const entry = { id: 'late', sender: 'alice@example.com', recipient: 'gone@example.com', raw_id: rawId };
    const outcome = await local.deliver(entry as Entry, 'deleted', (await local.read(rawId))!);
    expect(outcome).toMatchObject({ kind: 'retry', status: '4.2.1' });
  });

  test('an address with a tag belongs to the account without it', async () => {
    await submit(alice, { to: [{ address: 'Alice+shop@example.com' }], subject: 'Tagged' });
    expect((await arrived(alice, 'Tagged')).envelope.rcpt).toEqual([
      { value: 'alice+shop@example.com', formatted: 'alice+shop@example.com' },
    ]);
  });

  test('a new retention of a mailbox deletes no message earlier than the old one', async () => {
    const frank = await mail.person('frank');
    const { INBOX, Trash } = await mailboxesOf(frank);
    await frank.post(`${box(INBOX)}/messages`, { subject: 'of last year', text: 't' });
    await mail.sql(`UPDATE messages SET idate = now() - interval '1 year' WHERE user_id = $1`, [frank.id]);
    await frank.put(`${box(INBOX)}/messages`, { message: '1', moveTo: Trash });
    const day = 86_400_000;
    const expiresAfter = async (retention: number) => {
      expect((await frank.put(box(Trash), { retention })).status).toBe(200);
      const { status, body } = await frank.get(`${box(Trash)}/messages/1`);
      expect(status).toBe(200);
      return body.expires && Math.round((Date.parse(body.expires) - Date.now()) / day);
    };
    expect(await expiresAfter(10 * day)).toBe(30);
    expect(await expiresAfter(60 * day)).toBe(60);
    // The date of expiry would be one that JavaScript cannot represent.
    expect(await expiresAfter(Number.MAX_SAFE_INTEGER)).toBe(365_250);
    expect(await expiresAfter(0)).toBeUndefined();
  });

  test('a mailbox that is sent back as it was read leaves its messages as they are', async () => {
    const harry = await mail.person('harry');
    const { Trash } = await mailboxesOf(harry);
    await harry.post(`${box(Trash)}/messages`, { subject: 'of last month', text: 't' });
    await mail.sql(`UPDATE messages SET expires_at = now() + interval '1 day' WHERE user_id = $1`, [
      harry.id,
    ]);
    const message = async () => (await harry.get(`${box(Trash)}/messages/1`)).body;
    const before = await message();
    const { path, retention } = (await harry.get(box(Trash))).body;
    expect(retention).toBeGreaterThan(0);
    const { status } = await harry.put(box(Trash), { path, retention, subscribed: false });
    expect([status, await message()]).toEqual([200, before]);
  });

  test('deleted and expired messages leave neither rows nor blobs', async () => {
    const eve = await mail.person('eve');
    const boxes = await mailboxesOf(eve);
    for (const subject of ['one', 'two'])
      await eve.post(`${box(boxes['INBOX'])}/messages`, { subject, text: 't' });
    await eve.delete(`${box(boxes['INBOX'])}/messages/1`);
    await eve.put(`${box(boxes['INBOX'])}/messages`, { message: '2', moveTo: boxes['Trash'] });
    const rows = () => mail.sql('SELECT raw_id, expires_at FROM messages WHERE user_id = $1', [eve.id]);
    expect(await rows()).toEqual([{ raw_id: expect.any(String), expires_at: expect.any(Date) }]);
    const [{ raw_id: raw }] = await rows();
    await mail.sql(`UPDATE messages SET expires_at = now() - interval '1 second' WHERE user_id = $1`, [
      eve.id,
    ]);
    await mail.get(PeriodicJobs).runDue();
    expect(await rows()).toEqual([]);
    const [user] = await mail.sql('SELECT storage_used::int AS used FROM users WHERE id = $1', [eve.id]);
    expect(user.used).toBe(0);
    await mail.sql(
      `UPDATE raws SET collect_after = now() - interval '1 second' WHERE collect_after IS NOT NULL`,
    );
    await mail.get(RawMessages).collect();
    await expect(mail.get(RawMessages).open(raw)).rejects.toThrow(/has no/);
    // One run collects all blobs that are due.
    await mail.sql(
      `INSERT INTO raws (id, collect_after) SELECT gen_random_uuid(), now() FROM generate_series(1, 250)`,
    );
    expect(await mail.get(RawMessages).collect()).toBe(250);
    // Referenced blobs remain.
    const [kept] = await mail.sql('SELECT raw_id FROM messages WHERE user_id = $1', [alice.id]);
    expect((await mail.get(RawMessages).head(kept.raw_id, 1)).length).toBeGreaterThan(0);
  });
});

describe('with a relay', () => {
  let world: OtherServer;
  let mail: TestMailService;
  let alice: MailClient;

  beforeAll(async () => {
    world = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: world.url });
    alice = await mail.person('alice');
    await mail.person('bob');
  });
  afterAll(async () => {
    await mail?.stop();
    await world?.stop();
  });

  test('sends one message to all outside recipients, without Bcc', async () => {
    await submit(alice, {
      to: [{ address: 'x@far.example' }, { address: 'bob@example.com' }],
      bcc: [{ address: 'y@far.example' }],
      subject: 'To the world',
    });
    const value = await until('the message', () =>
      world.received.find(({ raw }) => /To the world/.test(raw)),
    );
    expect(value).toMatchObject({ from: 'alice@example.com', to: ['x@far.example', 'y@far.example'] });
    expect(value.raw).toMatch(/^From: Alice Example <alice@example\.com>/im);
    expect(value.raw).not.toMatch(/y@far\.example/);
  });

  test('keeps the case of the local part of outside addresses', async () => {
    await submit(alice, {
      to: [{ address: 'Reply+AbC@Far.EXAMPLE' }, { address: 'Reply+AbC@far.example' }],
      cc: [{ address: 'Bob@Example.com' }],
      subject: 'Ticket',
    });
    const { to } = await until('the message', () => world.received.find(({ raw }) => /Ticket/.test(raw)));
    expect(to).toEqual(['Reply+AbC@far.example']);
    const bob = (await mail.sql(`SELECT id FROM users WHERE address = 'bob@example.com'`))[0].id;
    await until('the local message', async () => {
      const rows = await mail.sql(`SELECT FROM messages WHERE user_id = $1 AND subject = 'Ticket'`, [bob]);
      return rows.length === 1;
    });
  });

  test('bounces mail to an international address that the relay rejects', async () => {
    world.reject = () => Object.assign(new Error('5.6.7 No SMTPUTF8 here'), { responseCode: 553 });
    const carol = await mail.person('carol');
    await submit(carol, { to: [{ address: '用户@例子.公益' }], subject: 'Abroad' });
    const report = await arrived(carol, 'Undelivered mail returned to sender');
    expect(report.text).toMatch(/用户@xn--fsqu00a\.xn--55qw42g.*5\.6\.7 No SMTPUTF8 here/s);
    const types = report.attachments.map(({ contentType }: { contentType: string }) => contentType);
    expect(types).toEqual(['message/global-delivery-status', 'text/rfc822-headers']);
    const message = `${box((await mailboxesOf(carol))['INBOX'])}/messages/${report.id}`;
    const status = (await carol.get(`${message}/attachments/${report.attachments[0].id}`)).bytes.toString();
    expect(status).toMatch(/^Final-Recipient: utf-8; 用户@xn--fsqu00a\.xn--55qw42g\r$/m);
    world.reject = () => undefined;
  });

  test('bounces permanent failures and retries temporary ones', async () => {
    let temporary = true;
    world.reject = (recipient) => {
      if (recipient.startsWith('gone'))
        return Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 });
      if (recipient.startsWith('busy') && temporary)
        return Object.assign(new Error('4.2.0 Greylisted'), { responseCode: 450 });
      return undefined;
    };
    await submit(alice, {
      to: [{ address: 'gone@far.example' }, { address: 'busy@far.example' }, { address: 'fine@far.example' }],
      subject: 'Partly',
    });
    const report = await arrived(alice, 'Undelivered mail returned to sender');
    expect(report.text).toMatch(/gone@far\.example.*5\.1\.1 No such user/s);
    await until('the other one', () => world.received.some(({ to }) => to.includes('fine@far.example')));
    const left = () =>
      mail.sql(
        `SELECT recipient, attempts, due_at BETWEEN now() + interval '50 seconds' AND now() + interval '10 minutes' AS paused
         FROM queue`,
      );
    const rows = await until('the pause', async () => {
      const current = await left();
      return current.length === 1 && current[0].paused && current;
    });
    expect(rows).toEqual([{ recipient: 'busy@far.example', attempts: 1, paused: true }]);
    temporary = false;
    await mail.sql('UPDATE queue SET due_at = now() - make_interval(secs => 1)');
    mail.get(QueueWorker).wake();
    await until('the retry', () => world.received.some(({ to }) => to.includes('busy@far.example')));
    await until('the empty queue', async () => (await left()).length === 0);
    expect(
      world.received.filter(({ raw, to }) => /Partly/.test(raw) && to.includes('fine@far.example')),
    ).toHaveLength(1);
  });
});

describe('with a relay that rejects connections', () => {
  test('mail is retried', async () => {
    const relay = await OtherServer.start();
    relay.isClosed = true;
    const mail = await TestMailService.start({ SMTP_URL: relay.url });
    try {
      const alice = await mail.person('alice');
      await submit(alice, { to: [{ address: 'x@far.example' }], subject: 'Later' });
      const tried = () => mail.sql('SELECT FROM queue WHERE due_at > now() AND attempts > 0');
      await until('the pause', async () => (await tried()).length + (await inboxOf(alice)).length > 0);
      expect(await inboxOf(alice)).toEqual([]);
      relay.isClosed = false;
      await mail.sql('UPDATE queue SET due_at = now() - make_interval(secs => 1)');
      mail.get(QueueWorker).wake();
      await until('the retry', () => relay.received.length === 1);
    } finally {
      await mail.stop();
      await relay.stop();
    }
  });
});

describe('with a relay that never ends a response', () => {
  test('mail is retried', async () => {
    const server = await dripServer();
    const mail = await TestMailService.start({ SMTP_URL: server.url });
    try {
      (mail.get<OutgoingRelay>(OutgoingRelay) as any).relay.deliveryMs = 300;
      await submit(await mail.person('alice'), { to: [{ address: 'x@far.example' }], subject: 'Slow' });
      const tried = () => mail.sql('SELECT FROM queue WHERE due_at > now() AND attempts > 0');
      await until('the pause', async () => (await tried()).length > 0);
    } finally {
      await mail.stop();
      await server.stop();
    }
  });
});

describe('with a hanging relay', () => {
  let relay: OtherServer;
  let mail: TestMailService;
  let alice: MailClient;
  let bob: MailClient;

  beforeAll(async () => {
    relay = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: relay.url });
    alice = await mail.person('alice');
    bob = await mail.person('bob');
  });
  afterAll(async () => {
    await mail?.stop();
    await relay?.stop();
  });

  test('local delivery and bounces continue, and each domain has a limited share of the relay', async () => {
    relay.hangs = true;
    // More messages than the relay has connections, each with a local recipient.
    for (let n = 0; n < 12; n += 1)
      await submit(alice, {
        to: [{ address: `x${n}@slow.example` }, { address: 'bob@example.com' }],
        subject: `slow ${n}`,
      });
    await until('the limit of the domain', () => relay.hanging === 2);
    for (let n = 0; n < 12; n += 1) await arrived(bob, `slow ${n}`);
    await submit(bob, { to: [{ address: 'alice@example.com' }], subject: 'colleague' });
    await arrived(alice, 'colleague');
    // Another domain is not blocked by the first one, and failures are reported.
    relay.reject = (recipient) =>
      recipient.endsWith('@gone.example')
        ? Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 })
        : undefined;
    await submit(bob, { to: [{ address: 'x@gone.example' }], subject: 'bounce' });
    expect((await arrived(bob, 'Undelivered mail returned to sender')).text).toMatch(/x@gone\.example/);
    for (let n = 0; n < 20; n += 1)
      await submit(alice, { to: [{ address: `x@slow${n}.example` }], subject: `other ${n}` });
    await until('the limit of the relay', () => relay.hanging === 8);
    await submit(bob, { to: [{ address: 'alice@example.com' }], subject: 'colleague again' });
    await arrived(alice, 'colleague again');
    expect(relay.hanging).toBe(8);
    relay.resume();
    await until('the other messages', () => relay.received.length >= 20);
  });

  test('a message whose blob is missing bounces', async () => {
    const { queueId } = await submit(bob, {
      to: [{ address: 'alice@example.com' }],
      subject: 'lost',
      sendTime: '2099-01-01T00:00:00.000Z',
    });
    await mail.sql(
      `UPDATE queue SET raw_id = gen_random_uuid()::text, due_at = now() - make_interval(secs => 1) WHERE id = $1`,
      [queueId],
    );
    mail.get(QueueWorker).wake();
    await until('the bounce', async () => {
      const reports = (await inboxOf(bob)).filter(({ subject }) => /Undelivered/.test(subject));
      return reports.length === 2;
    });
    expect(await mail.sql('SELECT FROM queue WHERE id = $1', [queueId])).toEqual([]);
  });
});

describe('reception by SMTP', () => {
  let mail: TestMailService;
  let alice: MailClient;
  let bob: MailClient;
  let port: number;

  beforeAll(async () => {
    mail = await TestMailService.start({ MAIL_MESSAGE_MB: '1', MAIL_QUOTA_MB: '2' });
    const receiver = mail.get(SmtpReceiver);
    receiver.awaitMs = 0;
    port = await receiver.listen(0);
    alice = await mail.person('alice');
    bob = await mail.person('bob');
  });
  afterAll(() => mail?.stop());

  const letter = (subject: string, more = ''): string =>
    `From: Ann <ann@far.example>\r\nTo: alice@example.com\r\nSubject: ${subject}\r\n${more}\r\nhello\r\n`;

  test('delivers to all local recipients, once each', async () => {
    const to = ['alice@example.com', '"Bob"@EXAMPLE.com', '"al\\ice+x"@example.com'];
    await sendBySmtp(port, { from: 'ann@far.example', to }, letter('By SMTP'));
    // An acknowledged message is stored.
    for (const person of [alice, bob])
      expect((await inboxOf(person)).filter(({ subject }) => subject === 'By SMTP')).toHaveLength(1);
    const stored = await arrived(bob, 'By SMTP');
    expect(stored).toMatchObject({
      envelope: { from: 'ann@far.example', rcpt: [{ value: 'bob@example.com' }] },
      from: { address: 'ann@far.example', name: 'Ann' },
      seen: false,
    });
  });

  test.each([
    ['another server', 'x@far.example'],
    ['an unknown name', 'nobody@example.com'],
    ['a percent hack', 'x%far.example@example.com'],
    ['a source route', '@example.com:x@far.example'],
    ['a bang path', 'far.example!x@example.com'],
    ['a quoted address', '"x@far.example"@example.com'],
  ])('does not relay to %s', async (_, address) => {
    await expect(
      sendBySmtp(port, { from: 'alice@example.com', to: [address] }, letter('Relay')),
    ).rejects.toThrow(/^(?!.*250).*(?:550|501|553|rejected|Invalid)/is);
    expect(await mail.sql('SELECT FROM queue')).toEqual([]);
  });

  test('accepts the known recipients of a list', async () => {
    const to = ['x@far.example', 'alice@example.com'];
    const { rejected } = await sendBySmtp(port, { from: 'ann@far.example', to }, letter('Some'));
    expect(rejected).toEqual(['x@far.example']);
    await arrived(alice, 'Some');
  });

  test('rejects messages that are too large, loop or cannot be parsed', async () => {
    const send = (raw: string) =>
      sendBySmtp(port, { from: 'ann@far.example', to: ['alice@example.com'] }, raw);
    await expect(send(letter('Large', `X: ${'y'.repeat(900)}\r\n`) + 'z'.repeat(1_100_000))).rejects.toThrow(
      /552/,
    );
    await expect(send(letter('Loop', 'Received: from a by b\r\n'.repeat(51)))).rejects.toThrow(/554/);
    const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(3_000)}`;
    await expect(send(letter('Parts', parts))).rejects.toThrow(/554/);
    const subjects = (await inboxOf(alice)).map(({ subject }) => subject);
    expect(subjects).not.toEqual(expect.arrayContaining(['Large']));
    expect(subjects).not.toEqual(expect.arrayContaining(['Loop']));
  });

  test('a full mailbox is a temporary failure, of the first attempt for all recipients of the message', async () => {
    const to = ['alice@example.com', 'bob@example.com'];
    const send = (from: string, raw: string) => sendBySmtp(port, { from, to }, raw);
    const subjects = async () => (await inboxOf(alice)).map(({ subject }) => subject);
    await mail.sql('UPDATE users SET storage_used = 2 * 1024 * 1024 - 100 WHERE id = $1', [bob.id]);
    await expect(send('ann@far.example', letter('Full'))).rejects.toThrow(/452/);
    expect(await subjects()).not.toContain('Full');
    expect((await send('ann@far.example', letter('Full'))).rejected).toEqual(['bob@example.com']);
    expect(await subjects()).toContain('Full');
    await mail.sql('UPDATE users SET storage_used = 0 WHERE id = $1', [bob.id]);
    expect((await send('ann@far.example', letter('Space'))).rejected).toEqual([]);
    await mail.sql('UPDATE users SET storage_used = 2 * 1024 * 1024 + 1 WHERE id = $1', [bob.id]);
    expect((await send('bea@far.example', letter('Fuller'))).rejected).toEqual(['bob@example.com']);
  });

  test('limits the connections of a client', async () => {
    const envelope = { from: 'ann@far.example', to: ['x@far.example'] };
    const attempt = () =>
      sendBySmtp(port, envelope, letter('Flood')).then(
        () => 'taken',
        (error: Error) => (/421/.test(error.message) ? 'later' : 'refused'),
      );
    const responses: string[] = [];
    while (responses.length < 150)
      responses.push(...(await Promise.all(Array.from({ length: 50 }, attempt))));
    expect(new Set(responses)).toEqual(new Set(['refused', 'later']));
  });
});
