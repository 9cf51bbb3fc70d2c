import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { openAttachment } from '../../../src/mail-service/mime/attachments.js';
import { composeMessage } from '../../../src/mail-service/mime/compose-message.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const MAX = 1_048_576;
const sourceOf = (raw: string | Buffer) => Readable.from([Buffer.from(raw)]);
const mail = (type: string, body: string): string =>
  `From: a@x.example\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}`;

describe('a text that is longer than what is stored of it', () => {
  test.each([
    ['text/plain', 'message.txt'],
    ['text/html', 'message.html'],
  ])('is an attachment too: %s', async (type, filename) => {
    const body = `${'Grüße und\n'.repeat(MAX / 10 + 1)}the end`;
    const found = await parseMessage(sourceOf(mail(type, body)));
    expect(found.attachments).toMatchObject([{ id: 'ATT00001', filename, contentType: type }]);
    expect(await text(await openAttachment(sourceOf(mail(type, body)), 'ATT00001'))).toBe(body);
  });

  test('but not at the limit', async () => {
    expect((await parseMessage(sourceOf(mail('text/plain', 'x'.repeat(MAX))))).attachments).toEqual([]);
  });
});

test('a copied attachment has the parameters of its type', async () => {
  const part = (type: string, body: string) =>
    `--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename=f.txt\r\n\r\n${body}\r\n`;
  const raw = Buffer.from(
    `From: a@x.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part('text/plain; charset=windows-1251; name=f.txt', 'x')}${part('text/calendar; charset=utf-8; method=REQUEST', 'BEGIN:VCALENDAR')}--b--`,
  );
  const stream = await composeMessage(
    {
      from: { address: 'a@x.example', name: '' },
      to: [],
      cc: [],
      bcc: [],
      subject: 's',
      text: 't',
      attachments: [],
      references: [],
      headers: [],
    },
    [{ raw, ids: ['ATT00001', 'ATT00002'], withStatus: true, file: '/nonexistent' }],
  );
  const composed = (await buffer(stream)).toString().replaceAll(/\r\n\s+/g, ' ');
  expect(composed).toMatch(/Content-Type: text\/plain; charset=windows-1251; name=f.txt\r/);
  expect(composed).toMatch(/Content-Type: text\/calendar; charset=utf-8; method=REQUEST;/);
});
