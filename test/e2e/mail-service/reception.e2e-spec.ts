import { setTimeout as delay } from 'node:timers/promises';
import { ByteBudget } from '../../../src/mail-service/limits.js';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { RawSmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const MB = 1024 * 1024;
const ALICE = 'alice@example.com';

let mail: TestMailService;
let alice: MailClient;
let inbox: string;
let port: number;
const clients: RawSmtp[] = [];

beforeAll(async () => {
  mail = await TestMailService.start({ MAIL_MESSAGE_MB: '1' });
  const receiver = mail.get(SmtpReceiver);
  receiver.awaitMs = 0;
  port = await receiver.listen(0);
  alice = await mail.person('alice');
  inbox = `/users/me/mailboxes/${(await mailboxesOf(alice))['INBOX']}/messages`;
});
afterEach(() => clients.splice(0).forEach((client) => client.close()));
afterAll(() => mail?.stop());

async function open(): Promise<RawSmtp> {
  const client = await RawSmtp.open(port);
  clients.push(client);
  return client;
}

const list = async (): Promise<any[]> => (await alice.get(`${inbox}?limit=250`)).body.results;
/** The newest message as sent, without our `Received` line. */
async function newest(): Promise<string> {
  const [{ id }] = await list();
  const { bytes } = await alice.get(`${inbox}/${id}/message.eml`);
  return bytes.toString('latin1').replace(/^Received:.*\r\n .*\r\n/, '');
}

describe('the end of a message', () => {
  test.each(['\n.\n', '\r\n.\n', '\n.\r\n', '\r.\r', '\r\n.\r', '\r\n\0.\r\n', '\r\r\n.\r\r\n'])(
    'is nothing but a dot on a line of its own: %j',
    async (end) => {
      const before = (await list()).length;
      const client = await open();
      await client.begin(ALICE);
      const rest = `MAIL FROM:<evil@far.example>\r\nRCPT TO:<${ALICE}>\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n`;
      const message = `Subject: one\r\n\r\nbody${end}${rest}`;
      expect(await client.say(Buffer.from(`${message}.\r\n`, 'latin1'))).toMatch(/^250/);
      expect(await client.say('NOOP')).toMatch(/^250/);
      expect((await list()).length - before).toBe(1);
      expect(await newest()).toBe(message);
    },
  );

  test('is found and dots are unstuffed, however the bytes are split', async () => {
    const client = await open();
    await client.begin(ALICE);
    for (const byte of 'Subject: dots\r\n\r\n..\r\n..a\r\na..b\r\n...\r\n..\r\n') {
      client.socket.write(byte);
      await delay(1);
    }
    expect(await client.say('.')).toMatch(/^250/);
    expect(await newest()).toBe('Subject: dots\r\n\r\n.\r\n.a\r\na..b\r\n..\r\n.\r\n');
  });

  test.each(['Subject: gone', 'Subject: gone\r\n\r\nx\r\n', 'Subject: gone\r\n\r\nx\r\n.\r'])(
    'that never comes leaves no message: %j',
    async (piece) => {
      for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const client = await open();
        await client.begin(ALICE);
        client.socket.write(piece);
        await delay(20);
        client.socket[leave]();
      }
      const last = await open();
      await last.begin(ALICE);
      expect(await last.message(Buffer.from('Subject: last\r\n\r\nx'))).toMatch(/^250/);
      expect((await list()).filter(({ subject }) => subject === 'gone')).toEqual([]);
    },
  );
});

test.each(['\r\n', '\n'])(
  'servers are counted in the headers alone, whose lines end with %j',
  async (end) => {
    const hops = `Received: from a by b${end}`.repeat(60);
    const client = await open();
    await client.begin(ALICE);
    expect(await client.message(Buffer.from(`Subject: report${end}${end}${hops}`))).toMatch(/^250/);
    await client.begin(ALICE);
    expect(await client.message(Buffer.from(`${hops}Subject: circle${end}${end}x`))).toMatch(/^554/);
  },
);

test('a message for an account that is deleted during its session is retried by the sender', async () => {
  const late = await mail.person('late');
  const before = (await list()).length;
  const client = await open();
  for (const line of [
    'EHLO x',
    'MAIL FROM:<ann@far.example>',
    `RCPT TO:<${ALICE}>`,
    'RCPT TO:<late@example.com>',
  ])
    expect(await client.say(line)).toMatch(/^250/);
  expect(await client.say('DATA')).toMatch(/^354/);
  expect((await mail.root.delete(`/users/${late.id}`)).status).toBe(200);
  expect(await client.message(Buffer.from('Subject: late\r\n\r\nx'))).toMatch(/^451/);
  expect((await list()).length).toBe(before);
});

describe('a client', () => {
  test('that sends an endless message does not block others', async () => {
    const client = await open();
    await client.begin(ALICE);
    const chunk = Buffer.alloc(MB, 'x'.repeat(70) + '\r\n');
    const budget = mail.get(ByteBudget);
    for (let n = 0; n < 20; n += 1)
      await new Promise((resolve) => client.socket.write(chunk, () => resolve(undefined)));
    await delay(200);
    // The whole budget except one message and some bytes in flight.
    expect(budget.take(508 * MB)).toBe(true);
    budget.give(508 * MB);
    expect(await client.say(Buffer.from('\r\n.\r\n'))).toMatch(/^552/);
    await until(
      'the whole budget to be released',
      () => budget.take(512 * MB) && (budget.give(512 * MB), true),
    );
  });

  test('that probes addresses is disconnected after a hundred unknown ones', async () => {
    const client = await open();
    await client.say('EHLO x');
    await client.say('MAIL FROM:<>');
    const replies: string[] = [];
    while (replies.at(-1) !== 'closed' && replies.length < 300)
      replies.push(await client.say(`RCPT TO:<n${replies.length}@example.com>`));
    expect(replies.slice(0, 100).every((reply) => reply.startsWith('550'))).toBe(true);
    expect(replies.slice(100)).toEqual([expect.stringMatching(/^421/), 'closed']);
  });

  test('cannot use other commands, such as AUTH and STARTTLS', async () => {
    const client = await open();
    await client.say('EHLO x');
    for (const command of [
      'WIZ x',
      'SHELL',
      'KILL',
      'AUTH PLAIN AAAA',
      'STARTTLS',
      'XCLIENT ADDR=1.2.3.4',
      'BDAT 1',
    ])
      expect(await client.say(command)).toMatch(/^500/);
  });

  test('is disconnected at the session limit', async () => {
    const hasty = await TestMailService.start();
    await hasty.person('alice');
    const client = await RawSmtp.open(await hasty.get(SmtpReceiver).listen(0, 5_000));
    clients.push(client);
    await client.begin(ALICE);
    const drip = setInterval(() => client.socket.write('x'), 50);
    try {
      expect(await client.reply()).toBe('closed');
    } finally {
      clearInterval(drip);
      await hasty.stop();
    }
  });
});
