import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

/** The parser's limit of headers, including the empty line. */
const HEAD = 1024 * 1024;

describe('a message that can be stored but not parsed after rewriting', () => {
  let world: OtherServer;
  let mail: TestMailService;
  let alice: MailClient;
  let boxes: Record<string, string>;

  beforeAll(async () => {
    world = await OtherServer.start();
    mail = await TestMailService.start({ SMTP_URL: world.url });
    alice = await mail.person('alice');
    await mail.person('bob');
    boxes = await mailboxesOf(alice);
  });
  afterAll(async () => {
    await mail?.stop();
    await world?.stop();
  });

  test('bounces, and reaches the reachable recipients', async () => {
    const begin = 'To: bob@example.com, x@far.example\r\nSubject: brim\r\n';
    // The added date and sender exceed the limit.
    const filling = `X: ${'y'.repeat(HEAD - begin.length - 7)}\r\n`;
    const drafts = `/users/me/mailboxes/${boxes['Drafts']}/messages`;
    const { body: made } = await alice.post(drafts, { draft: true, raw: `${begin}${filling}\r\nbody` });
    expect(made).toMatchObject({ success: true });
    const { body } = await alice.post(`${drafts}/${made.message.id}/submit`, {});
    expect(body).toMatchObject({ success: true });
    await until('the queue to be empty', async () => (await mail.sql('SELECT FROM queue')).length === 0);
    expect(world.received.map(({ to }) => to)).toEqual([['x@far.example']]);
    const inbox = `/users/me/mailboxes/${boxes['INBOX']}/messages`;
    const { body: list } = await alice.get(inbox);
    expect(list.results).toHaveLength(1);
    const { body: report } = await alice.get(`${inbox}/${list.results[0].id}`);
    expect(report.text).toMatch(/bob@example\.com.*cannot be read/s);
  });
});
