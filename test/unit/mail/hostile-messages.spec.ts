import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { outgoing } from '../../../src/mail-service/mime/outgoing.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const parse = (raw: string) => parseMessage(Readable.from([Buffer.from(raw, 'latin1')]));
const html = (markup: string) => `Subject: s\r\nContent-Type: text/html\r\n\r\n${markup}`;
const word = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
const attached = (headers: string) =>
  `Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${headers}\r\n\r\nhello\r\n--b--\r\n`;

describe('HTML that the parser cannot convert to text', () => {
  test.each([
    ['a long report', '<p>one <b>two</b></p>\n'.repeat(80_000)],
    ['an image within it', `<p>one <b>two</b></p><img src="data:image/png;base64,${'A'.repeat(1_500_000)}">`],
    ['a quotation of quotations', `<p>one <b>two</b></p>${'<blockquote>'.repeat(20_000)}`],
  ])('is kept, with what can be read of it: %s', async (_, markup) => {
    const { html: kept, text, intro } = await parse(html(markup));
    expect(kept?.startsWith(markup.slice(0, 1_000))).toBe(true);
    expect(kept!.length).toBeLessThanOrEqual(1_048_576);
    expect(text.replace(/\s+/g, ' ')).toMatch(/^ ?one two\b/);
    expect(intro).toMatch(/^one two/);
  });

  test('does not change the texts of later messages', async () => {
    const short = html('<p>one\r\ntwo</p>');
    await parse(html('<p>long</p>'.repeat(110_000)));
    expect((await parse(short)).text).toBe('one two');
  });

  test('is kept in several parts', async () => {
    const long = `Content-Type: text/html\r\n\r\n${'<p>long</p>'.repeat(110_000)}`;
    const parts = [long, 'Content-Type: text/plain\r\n\r\nplain', long].map((part) => `--b\r\n${part}\r\n`);
    const raw = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`;
    const { html: kept, text } = await parse(raw);
    expect(text).toMatch(/^long\n\nlong/);
    expect(text).toContain('\nplain\n');
    expect(kept).toMatch(/^<p>long/);
  });
});

describe('declared attachment fields', () => {
  test('are truncated, and names keep their extension', async () => {
    const name = `${'n'.repeat(500_000)}.tar.gz`;
    const { attachments } = await parse(
      attached(
        `Content-Type: application/pdf\r\nContent-ID: <${'c'.repeat(9_000)}>\r\nContent-Transfer-Encoding: x-${'e'.repeat(9_000)}\r\nContent-Disposition: attachment; filename="${name}"`,
      ),
    );
    const [{ filename, cid, transferEncoding }] = attachments as [(typeof attachments)[number]];
    expect(filename).toMatch(/^n{200,}.*\.gz$/);
    expect(filename.length).toBeLessThanOrEqual(255);
    expect((cid as string).length).toBeLessThanOrEqual(300);
    expect(transferEncoding.length).toBeLessThanOrEqual(100);
  });

  test.each([
    word('text/html\r\nX-Evil: 1'),
    'text/x\x01y',
    `application/${'x'.repeat(5_000)}`,
    '\xff\xfe/\x80',
    'nonsense',
  ])('is a media type or none: %j', async (type) => {
    const { attachments } = await parse(
      attached(`Content-Type: ${type}\r\nContent-Disposition: attachment; filename=a`),
    );
    expect(attachments.map(({ contentType }) => contentType)).toEqual(['application/octet-stream']);
  });
});

test('content type parameters are bounded', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `p${n}=x`).join('; ');
  const { contentType } = await parse(
    `Content-Type: text/plain; charset=${'y'.repeat(90_000)}; ${many}\r\n\r\nx`,
  );
  expect(JSON.stringify(contentType).length).toBeLessThan(20_000);
});

describe('an outgoing message', () => {
  const me = { address: 'alice@example.com', name: 'Alice' };
  /** The lines as servers that accept a lone CR or LF read them. */
  const sent = async (raw: string): Promise<string> => {
    const bytes = await buffer(outgoing(Readable.from([Buffer.from(raw)]), me, new Date(0)));
    return bytes.toString('latin1').replace(/\r\n|\r|\n/g, '\n');
  };

  test.each(['\r', '\n', '\r\r', '\r\r\n', '\n\r'])('has one From for any line ending: %j', async (end) => {
    const text = await sent(
      `Subject: s\r\nX-A: a${end}From: Boss <boss@corp.example>${end}Bcc: hidden@x.example\r\nX-B: b\r\n\r\nbody\r\n`,
    );
    const [head = '', ...body] = text.split('\n\n');
    expect(head.match(/^from:.*$/gim)).toEqual(['From: Alice <alice@example.com>']);
    expect(text).not.toMatch(/^bcc:/im);
    expect(body.join('\n\n')).not.toMatch(/boss/);
  });
});
