import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { composeMessage as compose } from '../../../src/mail-service/mime/compose-message.js';
import { openAttachment } from '../../../src/mail-service/mime/attachments.js';
import type { NewMessage } from '../../../src/mail-service/mime/message.js';
import { outgoing } from '../../../src/mail-service/mime/outgoing.js';
import { parseMessage as parse } from '../../../src/mail-service/mime/parse-message.js';
import { composeItipMail } from '../../../src/lib/itip/index.js';
import { mailMessage } from '../../../src/platform/system-mail/mail-message.js';
import { runs } from '../../support/property-runs.ts';

const BASE: NewMessage = {
  from: { address: 'alice@example.com', name: '' },
  to: [],
  cc: [],
  bcc: [],
  subject: '',
  attachments: [],
  references: [],
  headers: [],
};

const composeMessage = async (message: NewMessage): Promise<Buffer> => buffer(await compose(message));
const parseMessage = (raw: Buffer) => parse(Readable.from([raw]));

test('lines end with CRLF (RFC 5322, 2.3)', async () => {
  const raw = await composeMessage({
    ...BASE,
    subject: 'Lines',
    text: 'one\ntwo\r\nthree',
    html: '<p>one</p>\n<p>two</p>',
    attachments: [
      { content: 'Subject: a\n\ntext\n', encoding: 'utf8', contentType: 'message/rfc822' },
      { content: 'a\nb', encoding: 'utf8', contentType: 'text/plain', filename: 'a.txt' },
    ],
  });
  expect(raw.toString('latin1')).not.toMatch(/(?<!\r)\n/);
  const { text, attachments } = await parseMessage(raw);
  expect(text).toBe('one\ntwo\nthree');
  expect(attachments.map(({ decodedSize }) => decodedSize)).toEqual([20, 3]);
});

test.each(['=?utf-8?Q?literal?=', 'x =?utf-8?B?YQ==?= y', `${'ä'.repeat(200)}=?utf-8?Q?a_b?= 🎉`, '=?'])(
  'text that looks like an encoded word is read as it was written (RFC 2047): %.20s',
  async (text) => {
    const from = { address: 'alice@example.com', name: text };
    const raw = await composeMessage({
      ...BASE,
      from,
      to: [{ address: 'b@x.example', name: text }],
      subject: text,
      text: 'x',
    });
    expect(raw.toString('latin1')).not.toMatch(/[^\r\n]{200}/);
    const sent = await buffer(Readable.from(outgoing(Readable.from([raw]), from, new Date())));
    for (const message of [raw, sent])
      expect(await parseMessage(message)).toMatchObject({
        subject: text,
        from: { name: text },
        to: [{ name: text }],
      });
  },
);

test('a name of a file that looks like an encoded word is read as it was written (RFC 2231)', async () => {
  const filename = '=?utf-8?Q?a=5Fb?= plan.txt';
  const raw = await composeMessage({
    ...BASE,
    text: 'x',
    attachments: [{ content: 'x', encoding: 'utf8', contentType: 'text/plain', filename }],
  });
  const sent = await buffer(Readable.from(outgoing(Readable.from([raw]), BASE.from, new Date())));
  for (const message of [raw, sent])
    expect((await parseMessage(message)).attachments).toMatchObject([{ filename }]);
  const named = (parameter: string) =>
    parseMessage(
      Buffer.from(`Content-Type: application/pdf\r\nContent-Disposition: attachment; ${parameter}\r\n\r\nx`),
    );
  expect((await named('filename="=?utf-8?Q?a=5Fb?="')).attachments).toMatchObject([{ filename: 'a_b' }]);
  expect((await named("filename*=utf-8''%3D%3Futf-8%3FQ%3Fa%3D5Fb%3F%3D")).attachments).toMatchObject([
    { filename: '=?utf-8?Q?a=5Fb?=' },
  ]);
});

test('mails of the workspace and of calendars keep text that looks like an encoded word', async () => {
  const name = '=?utf-8?Q?literal?=';
  const system = await mailMessage(
    { subject: `About ${name}`, paragraphs: [], senderName: name, replyTo: { name, address: 'r@x.example' } },
    {
      id: '1',
      from: { name: 'Work', address: 'no-reply@x.example' },
      to: 'b@x.example',
      date: new Date(),
      language: 'en',
    },
  );
  expect(await parseMessage(system.raw)).toMatchObject({
    subject: `About ${name}`,
    from: { name: `${name} (Work)` },
    replyTo: [{ name }],
  });
  const itip = await composeItipMail({
    from: { name, address: 'a@x.example' },
    to: { name, address: 'b@x.example' },
    messageId: '<1@x.example>',
    references: [],
    subject: `About ${name}`,
    date: new Date(),
    text: 'x',
    html: 'x',
    method: 'REQUEST',
    ics: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n',
  });
  expect(await parseMessage(itip)).toMatchObject({
    subject: `About ${name}`,
    from: { name },
    to: [{ name }],
  });
});

/** Text that tries to end a header and start another one. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '\r\n\r\n',
        '\0',
        '\u2028',
        '\u0085',
        '"',
        '<',
        '>',
        ',',
        ';',
        '=?utf-8?Q?=0D=0A?=',
      ),
      fc.constantFrom(
        'Bcc: evil@far.example',
        'X-Injected: 1',
        'From: evil@far.example',
        'Content-Type: text/html',
      ),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** Header names of the message and its parts. */
const headerNames = (raw: Buffer): string[] => {
  const boundary = /boundary="([^"]+)"/.exec(raw.toString('latin1'))?.[1];
  const parts =
    boundary === undefined ? [raw.toString('latin1')] : raw.toString('latin1').split(`--${boundary}`);
  return parts.flatMap((part) => {
    const head = part.trimStart().split('\r\n\r\n')[0] ?? '';
    return head
      .split('\r\n')
      .filter((line) => line !== '' && !/^[\t ]/.test(line) && line !== '--')
      .map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
  });
};

const KNOWN = new Set(
  'from reply-to to cc bcc subject date message-id mime-version content-type content-transfer-encoding content-disposition content-id in-reply-to references x-own'.split(
    ' ',
  ),
);

describe('a composed message', () => {
  test('contains no injected header', async () => {
    const message = fc.record({
      name: hostile,
      subject: hostile,
      filename: hostile,
      contentType: hostile,
      cid: hostile,
      header: hostile,
    });
    await fc.assert(
      fc.asyncProperty(message, async ({ name, subject, filename, contentType, cid, header }) => {
        const raw = await composeMessage({
          ...BASE,
          from: { address: 'alice@example.com', name },
          replyTo: { address: 'alice@example.com', name },
          to: [{ address: 'bob@example.com', name }],
          subject,
          text: 'text',
          attachments: [
            {
              filename,
              contentType,
              cid,
              content: 'YQ==',
              encoding: 'base64',
              contentDisposition: 'attachment',
            },
          ],
          headers: [{ key: 'X-Own', value: header }],
          references: [`<${cid}@x>`],
          inReplyTo: `<${cid}@x>`,
        });
        expect(headerNames(raw).filter((each) => !KNOWN.has(each))).toEqual([]);
        const parsed = await parseMessage(raw);
        expect(parsed.from?.address).toBe('alice@example.com');
        expect([parsed.to.map(({ address }) => address), parsed.bcc]).toEqual([['bob@example.com'], []]);
        expect(JSON.stringify(parsed)).not.toContain('\\u0000');
        const sent = await buffer(
          outgoing(Readable.from([raw]), { address: 'alice@example.com', name }, new Date(0)),
        );
        expect(headerNames(sent).filter((each) => !KNOWN.has(each))).toEqual([]);
        expect((await parseMessage(sent)).from?.address).toBe('alice@example.com');
      }),
      { numRuns: runs(300), endOnFailure: true },
    );
  });

  test('preserves its content', async () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((each) => !/[\p{C}\p{Z}]/u.test(each));
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        fc.uint8Array({ minLength: 1, maxLength: 500 }),
        async (subject, body, bytes) => {
          const content = Buffer.from(bytes).toString('base64');
          const raw = await composeMessage({
            ...BASE,
            subject,
            text: body,
            attachments: [{ filename: 'a.bin', content, encoding: 'base64' }],
          });
          const parsed = await parseMessage(raw);
          expect([parsed.subject, parsed.text, parsed.attachments.length]).toEqual([subject, body, 1]);
          expect(parsed.attachments[0]?.sizeKb).toBe(1);
        },
      ),
      { numRuns: runs(100), endOnFailure: true },
    );
  });

  test('reads no file and no URL', async () => {
    const raw = await composeMessage({
      ...BASE,
      html: '<img src="file:///etc/passwd"><img src="http://127.0.0.1:9/x.png">',
      attachments: [{ filename: '/etc/passwd', content: 'YQ==', encoding: 'base64' }],
    });
    expect(raw.toString()).not.toContain('root:');
  });
});

describe('parsing', () => {
  test('terminates for any input', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        'Content-Type: multipart/mixed; boundary=b',
        'Content-Type: message/rfc822',
        'Content-Type: text/html; charset=\0\xff',
        'Content-Type: application/x; name*0*=a; name*1*=%00',
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: attachment; filename="\u202e"',
        'From: ,,,<<<>>>:;',
        'To: group: a@b, c@d;, e@f',
        'Date: Tue, 99 Foo 99999 99:99:99 +9999',
        'References: <a> b <c',
        'Subject: =?utf-8?B?////?= =?x?Q?=?=',
        '--b',
        '--b--',
        '',
      ),
      fc.string({ maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (lines) => {
        const parsed = await parseMessage(Buffer.from(lines.join('\r\n'), 'latin1'));
        const text = JSON.stringify(parsed);
        expect(text).not.toContain('\\u0000');
        expect(text.isWellFormed()).toBe(true);
        expect(parsed.attachments.map(({ id }) => id)).toEqual(
          parsed.attachments.map((_, n) => `ATT${String(n + 1).padStart(5, '0')}`),
        );
      }),
      { numRuns: runs(300), endOnFailure: true },
    );
  });
});

test('a file of a multipart type is attached as bytes (RFC 2045, 6.4)', async () => {
  const content = Buffer.from('MIME-Version: 1.0\r\n\r\n--b\r\n').toString('base64');
  for (const contentType of ['multipart/related', 'Multipart/X-Zip; charset=utf-8', 'multipart/form-data']) {
    const raw = await composeMessage({
      ...BASE,
      text: 'the page',
      attachments: [{ filename: 'page.mht', contentType, content, encoding: 'base64' }],
    });
    const { text, attachments } = await parseMessage(raw);
    expect(text).toBe('the page');
    expect(attachments).toMatchObject([{ filename: 'page.mht', contentType: 'application/octet-stream' }]);
    const bytes = await buffer(await openAttachment(Readable.from([raw]), 'ATT00001'));
    expect(bytes.toString('base64')).toBe(content);
  }
});

describe('an attached message', () => {
  const type = fc.constantFrom(
    'message/rfc822',
    'message/partial',
    'message/external-body',
    'MESSAGE/RFC822',
  );
  const inner = fc
    .record({
      head: fc.constantFrom('Subject: inner', 'Subject: inner\r\nContent-Type: text/html', 'no header'),
      body: fc.constantFrom('text', '<b>html</b>', '--x\r\n\r\npart\r\n--x--', ''),
    })
    .map(({ head, body }) => `${head}\r\n\r\n${body}`);

  test('is listed and readable as it was attached, and is no part of the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            contentType: type,
            content: inner,
            contentDisposition: fc.constantFrom(undefined, 'inline' as const, 'attachment' as const),
            filename: fc.constantFrom(undefined, 'forwarded.eml'),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        async (given) => {
          const attachments = given.map(({ content, filename, contentDisposition, contentType }) => ({
            contentType,
            content: Buffer.from(content).toString('base64'),
            encoding: 'base64',
            ...(filename && { filename }),
            ...(contentDisposition && { contentDisposition }),
          }));
          const raw = await composeMessage({ ...BASE, text: 'outer', attachments });
          const parsed = await parseMessage(raw);
          expect(parsed.text).toBe('outer');
          expect(
            parsed.attachments.map(({ contentType, disposition, filename }) => [
              contentType,
              disposition,
              filename,
            ]),
          ).toEqual(
            given.map((each, n) => [
              each.contentType.toLowerCase(),
              each.contentDisposition ?? 'attachment',
              each.filename ?? expect.stringMatching(new RegExp(`^attachment-${n + 1}\\.\\w+$`)),
            ]),
          );
          for (const [n, { content }] of given.entries()) {
            const stream = await openAttachment(Readable.from([raw]), `ATT0000${n + 1}`);
            expect((await buffer(stream)).toString()).toBe(content);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });
});
