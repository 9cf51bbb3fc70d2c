import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openAttachment } from '../../../src/mail-service/mime/attachments.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

/** The lines of a file as uuencode writes them. */
function uuencode(name: string, content: Buffer): string[] {
  const letter = (value: number): string => (value === 0 ? '`' : String.fromCharCode(value + 32));
  const lines = Array.from({ length: Math.ceil(content.length / 45) }, (_, n) => {
    const bytes = content.subarray(n * 45, (n + 1) * 45);
    const groups = Array.from({ length: Math.ceil(bytes.length / 3) }, (__, group) => {
      const [a = 0, b = 0, c = 0] = bytes.subarray(group * 3, group * 3 + 3);
      return [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63].map(letter).join('');
    });
    return letter(bytes.length) + groups.join('');
  });
  return [`begin 644 ${name}`, ...lines, '`', 'end'];
}
const PICTURE = Buffer.from(Array.from({ length: 100 }, (_, n) => (n * 37) & 255));
const message = (...lines: string[]): Buffer =>
  Buffer.from(['From: pat@x.example', '', ...lines, ''].join('\r\n'));
const read = async (raw: Buffer) => {
  const { text, html, attachments } = await parseMessage(Readable.from([raw]));
  const contents = attachments.map(async ({ id }) => buffer(await openAttachment(Readable.from([raw]), id)));
  return { text, html, attachments, contents: await Promise.all(contents) };
};

describe('a uuencoded file in a text', () => {
  test('is an attachment, and no part of the text', async () => {
    const raw = message(
      'Dear Eli,',
      ...uuencode('one pic.gif', PICTURE),
      'and',
      ...uuencode('b.txt', Buffer.from('b')),
      'Pat',
    );
    const { text, html, attachments, contents } = await read(raw);
    expect(text).toBe('Dear Eli,\nand\nPat');
    expect(html).toBe('<p>Dear Eli,<br/>and<br/>Pat</p>');
    expect(attachments).toMatchObject([
      { id: 'ATT00001', filename: 'one pic.gif', contentType: 'image/gif', decodedSize: 100 },
      { id: 'ATT00002', filename: 'b.txt', contentType: 'text/plain', decodedSize: 1 },
    ]);
    expect(contents).toEqual([PICTURE, Buffer.from('b')]);
    expect(attachments[0]?.hash).toHaveLength(64);
  });

  test('comes after the other attachments', async () => {
    const raw = message().toString().trimEnd();
    const body = [
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      ...uuencode('a.gif', PICTURE),
      '--b',
    ];
    const file = ['Content-Type: image/png; name=b.png', '', 'x', '--b--', ''];
    const { text, attachments, contents } = await read(Buffer.from([raw, ...body, ...file].join('\r\n')));
    expect([text, attachments.map(({ filename }) => filename)]).toEqual(['', ['b.png', 'a.gif']]);
    expect(contents[1]).toEqual(PICTURE);
  });

  test('may have lost the blanks at the ends of its lines', async () => {
    const lines = uuencode('a.bin', Buffer.alloc(90)).map((line) => line.replaceAll('`', ' ').trimEnd());
    const { attachments, contents } = await read(message('a', ...lines));
    expect(attachments).toHaveLength(1);
    expect(contents[0]).toEqual(Buffer.alloc(90));
  });

  test('is not much longer than its text', async () => {
    const lines = Array.from({ length: 10_000 }, () => 'M');
    const { contents } = await read(message('begin 644 a.bin', ...lines, '`', 'end'));
    expect(contents[0]?.length).toBeLessThan(20_000);
  });

  test.each([
    ['without an end', ['begin 644 a.gif', '#0V%T', '`']],
    ['with another line', ['begin 644 a.gif', '#0V%T', 'a line of a text', '`', 'end']],
    ['without data', ['begin 644 a.gif', 'end']],
    ['without a name', ['begin 644 ', '#0V%T', '`', 'end']],
    ['of words', ['begin 100 times', 'and then', 'end']],
  ])('is text %s', async (_, lines) => {
    const { text, attachments } = await read(message('a', ...lines));
    expect([text, attachments]).toEqual([['a', ...lines].join('\n'), []]);
  });

  test('many beginnings are read in one pass', async () => {
    const many = Array.from({ length: 50_000 }, () => ['begin 644 a.gif', '#0V%T']).flat();
    const { attachments } = await parseMessage(Readable.from([message(...many)]));
    expect(attachments).toEqual([]);
  });
});
