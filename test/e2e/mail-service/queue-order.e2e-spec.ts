import pg from 'pg';
import { QueueRepository } from '../../../src/mail-service/delivery/queue.repository.js';
import { QueueWorker } from '../../../src/mail-service/delivery/queue.worker.js';
import { MAIL_SCHEMA } from '../../../src/mail-service/mail-service.schema.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

/** Two connections to the relay would not keep the order of two mails of a sender to the same address. */
describe('the order of mails to one recipient', () => {
  let relay: OtherServer;
  let mail: TestMailService;
  let alice: MailClient;

  beforeAll(async () => {
    relay = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: relay.url });
    alice = await mail.person('alice');
  });
  afterAll(async () => {
    await mail?.stop();
    await relay?.stop();
  });

  const submit = async (person: MailClient, subject: string, address: string): Promise<void> => {
    const { Drafts } = await mailboxesOf(person);
    const path = `/users/me/mailboxes/${Drafts}/messages`;
    const { body } = await person.post(path, { draft: true, text: 'text', subject, to: [{ address }] });
    expect((await person.post(`${path}/${body.message.id}/submit`, {})).status).toBe(200);
  };
  const inFlight = async () =>
    (await mail.sql('SELECT subject FROM queue WHERE worker IS NOT NULL ORDER BY subject')).map(
      ({ subject }) => subject,
    );

  test('the next one waits while the first one is in flight, and mails of others do not', async () => {
    relay.hangs = true;
    await submit(alice, '1 first', 'zoe@far.example');
    await until('the first mail', () => relay.hanging === 1);
    await submit(alice, '2 next', 'zoe@far.example');
    await submit(alice, '3 to another', 'yan@far.example');
    await until('the mail to another', () => relay.hanging === 2);
    expect(await inFlight()).toEqual(['1 first', '3 to another']);
    relay.resume();
    await until('the next mail', () => relay.received.some(({ raw }) => /^Subject: 2 next/m.test(raw)));
  });

  test('the next one waits also for a claim of another process that is not committed', async () => {
    const queue = mail.get(QueueRepository);
    const claim = queue.claim.bind(queue);
    queue.claim = async () => undefined;
    const other = new pg.Client({ connectionString: mail.databaseUrl });
    await other.connect();
    try {
      for (const subject of ['1 claimed', '2 waits']) await submit(alice, subject, 'wim@far.example');
      await other.query('BEGIN');
      await other.query(`SELECT FROM ${MAIL_SCHEMA}.queue WHERE subject = '1 claimed' FOR UPDATE`);
      expect(await claim(false)).toBeUndefined();
    } finally {
      await other.end();
      queue.claim = claim;
    }
    mail.get(QueueWorker).wake();
    await until('both mails', () => relay.received.some(({ raw }) => /^Subject: 2 waits/m.test(raw)));
  });

  test('mails in quick succession arrive in their order', async () => {
    const subjects = Array.from({ length: 30 }, (_, n) => `in order ${String(n).padStart(2, '0')}`);
    for (const subject of subjects) await submit(alice, subject, 'xen@far.example');
    const received = () =>
      relay.received.flatMap(({ raw }) => /^Subject: (in order .*?)\r$/m.exec(raw)?.[1] ?? []);
    await until('all mails', () => received().length === subjects.length);
    expect(received()).toEqual(subjects);
  });
});
