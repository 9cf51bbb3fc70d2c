import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { Spool } from '../../../src/mail-service/storage/spool.js';
import { SmtpReceiver } from '../../../src/mail-service/smtp/smtp-receiver.js';
import { type MailClient, mailboxesOf, TestMailService } from '../../support/mail/mail-service.ts';
import { sendBySmtp } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const MB = 1024 * 1024;
const bytes = randomBytes(2 * MB + 1);
const base64 = bytes.toString('base64');
const lines = base64.replace(/.{76}/g, '$&\r\n');

let mail: TestMailService;
let alice: MailClient;
let bob: MailClient;
let drafts: string;

beforeAll(async () => {
  mail = await TestMailService.start({ MAIL_MESSAGE_MB: '16' });
  [alice, bob] = [await mail.person('alice'), await mail.person('bob')];
  drafts = `/users/me/mailboxes/${(await mailboxesOf(alice))['Drafts']}/messages`;
});
afterAll(() => mail?.stop());

/** Temporary files of messages in progress. */
function spooled(): string[] {
  const spools = readdirSync(mail.dataDir).filter((name) => name.startsWith('mail-spool-'));
  return spools.flatMap((name) => readdirSync(path.join(mail.dataDir, name)));
}
// The response precedes the removal of the last file.
afterEach(async () => void (await until('an empty spool', async () => spooled().length === 0)));

async function created(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await alice.post(drafts, { draft: true, ...fields });
  expect([status, body.success]).toEqual([200, true]);
  return `${drafts}/${body.message.id}`;
}

async function contentsOf(user: MailClient, message: string): Promise<Buffer[]> {
  const { body } = await user.get(message);
  const contents: Buffer[] = [];
  for (const { id } of body.attachments)
    contents.push((await user.get(`${message}/attachments/${id}`)).bytes);
  return contents;
}

async function inboxOf(user: MailClient): Promise<string> {
  return `/users/me/mailboxes/${(await mailboxesOf(user))['INBOX']}/messages`;
}

async function arrived(user: MailClient, subject: string): Promise<string> {
  const inbox = await inboxOf(user);
  const value = await until(subject, async () =>
    (await user.get(inbox)).body.results.find((row: any) => row.subject === subject),
  );
  return `${inbox}/${value.id}`;
}

test('attachments in any encoding and long texts are stored unchanged', async () => {
  const text = 'Many "words", \\ and ✓ signs.\n'.repeat(10_000);
  const attachments = [
    { filename: 'plain.bin', content: base64 },
    { filename: 'lines.bin', content: lines },
    { filename: 'hex.bin', content: bytes.toString('hex'), encoding: 'hex' },
    { filename: 'text.txt', content: text, encoding: 'utf8', contentType: 'text/plain' },
    { filename: 'short.bin', content: 'YQ==' },
  ];
  const message = await created({ subject: 'All of them', text, attachments });
  const { body } = await alice.get(message);
  expect(body.text).toBe(text.trimEnd());
  expect(body.attachments.map(({ filename }: any) => filename)).toEqual(
    attachments.map(({ filename }) => filename),
  );
  const contents = await contentsOf(alice, message);
  const expected = [bytes, bytes, bytes, Buffer.from(text), Buffer.from('a')];
  expect(contents.map((content, n) => content.equals(expected[n]!))).toEqual(expected.map(() => true));
});

test('content that looks like a marker is stored unchanged', async () => {
  const content = `${'0'.repeat(32)}-0`;
  const attachments = [{ content: base64 }, { content, encoding: 'utf8' }];
  const [, second] = await contentsOf(alice, await created({ attachments }));
  expect(second?.toString()).toBe(content);
});

test('a forwarded message contains its long and short attachments', async () => {
  const attachments = [
    { filename: 'a', content: base64 },
    { filename: 'b', content: 'YQ==' },
    { filename: 'c', content: base64 },
  ];
  const [mailbox, id] = (await created({ attachments })).split('/messages/');
  const reference = { mailbox: mailbox!.split('/').pop(), id, action: 'forward', attachments: true };
  const contents = await contentsOf(alice, await created({ reference }));
  expect(contents.map((content) => content.length)).toEqual([bytes.length, 1, bytes.length]);
  expect(contents[2]!.equals(bytes)).toBe(true);
});

test('a long message is delivered after submission and by SMTP', async () => {
  const to = [{ address: 'bob@example.com' }];
  const draft = await created({ to, subject: 'By hand', attachments: [{ content: base64 }] });
  expect((await alice.post(`${draft}/submit`)).body.success).toBe(true);
  expect((await contentsOf(bob, await arrived(bob, 'By hand')))[0]!.equals(bytes)).toBe(true);

  const port = await mail.get(SmtpReceiver).listen(0);
  const raw = `Subject: By SMTP\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`;
  await sendBySmtp(port, { from: 'a@far.example', to: ['bob@example.com'] }, raw);
  const message = await arrived(bob, 'By SMTP');
  expect((await contentsOf(bob, message))[0]!.equals(bytes)).toBe(true);
  const source = (await bob.get(`${message}/message.eml`)).bytes.toString();
  expect(source.slice(source.indexOf('Subject:'))).toBe(raw);
  const round = `${'Received: from x\r\n'.repeat(60)}${raw}`;
  await expect(sendBySmtp(port, { from: 'a@far.example', to: ['bob@example.com'] }, round)).rejects.toThrow(
    /is in a loop/,
  );
});

test('a long raw message is stored unchanged', async () => {
  const raw = Buffer.from(
    `Subject: As it is\r\nContent-Type: application/x\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`,
  );
  const { body } = await alice.request('POST', drafts, raw, { 'content-type': 'message/rfc822' });
  expect(body).toMatchObject({ success: true, message: { size: raw.length } });
  const source = await alice.get(`${drafts}/${body.message.id}/message.eml`);
  expect(source.bytes.equals(raw)).toBe(true);
});

test('rejected requests leave no files', async () => {
  const post = (content: string) => alice.request('POST', drafts, content);
  const body = JSON.stringify({ attachments: [{ content: base64 }] });
  expect((await post(body.slice(0, -1))).body).toMatchObject({ code: 'InvalidContent' });
  expect((await post(`[${body}]`)).status).toBe(500);
  const wrong = await post(JSON.stringify({ attachments: [{ content: base64, wrong: base64 }] }));
  expect(wrong.body).toMatchObject({ code: 'InputValidationError' });
  const encoding = await alice.post(drafts, { attachments: [{ content: base64, encoding: 'rot13' }] });
  expect(encoding.body).toMatchObject({ error: 'Unknown encoding: rot13' });
  const large = await alice.post(drafts, { attachments: [{ content: base64.repeat(6) }] });
  expect(large.body).toMatchObject({ code: 'MessageTooLarge' });
});

test('a disconnect during a request leaves no files', async () => {
  const request = http.request(`${mail.url}${drafts}`, {
    method: 'POST',
    headers: { 'x-access-token': alice.token!, 'content-type': 'application/json', 'content-length': 8 * MB },
  });
  const closed = new Promise((resolve) => request.once('error', resolve));
  request.write(`{"attachments":[{"content":"${base64}`);
  await until('a file', async () => spooled().length > 0);
  request.destroy();
  await closed;
});

test('files of a killed process are removed after some hours', async () => {
  const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
  const left = { 'mail-spool-old': 7, 'mail-spool-young': 1, 'something-else': 7 };
  for (const [name, hours] of Object.entries(left)) {
    mkdirSync(path.join(mail.dataDir, name));
    utimesSync(path.join(mail.dataDir, name), hoursAgo(hours), hoursAgo(hours));
  }
  await mail.get(Spool).sweep();
  expect(Object.keys(left).filter((name) => existsSync(path.join(mail.dataDir, name)))).toEqual([
    'mail-spool-young',
    'something-else',
  ]);
});

test('the directory is removed at shutdown', async () => {
  const other = await TestMailService.start();
  const user = await other.person('carol');
  const [mailbox] = Object.values(await mailboxesOf(user));
  await user.post(`/users/me/mailboxes/${mailbox}/messages`, { attachments: [{ content: base64 }] });
  const spool = readdirSync(other.dataDir).find((name) => name.startsWith('mail-spool-'));
  const directory = path.join(other.dataDir, spool!);
  expect(existsSync(directory)).toBe(true);
  await other.service.stop(1_000);
  expect(existsSync(directory)).toBe(false);
  await other.stop();
});
