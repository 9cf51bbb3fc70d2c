import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { hasStatus, openAttachment } from '../../../src/mail-service/mime/attachments.js';
import { readTnef } from '../../../src/mail-service/mime/embedded/tnef.js';
import { splitUuencoded } from '../../../src/mail-service/mime/embedded/uuencoded.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
const stream = (message: string | Buffer): Readable =>
  Readable.from([typeof message === 'string' ? Buffer.from(message, 'latin1') : message]);
const read = async (message: string) => {
  const { text, html, attachments } = await parseMessage(stream(message));
  const files: [string, string, string][] = [];
  for (const { id, filename, contentType } of attachments)
    files.push([
      filename,
      contentType,
      (await buffer(await openAttachment(stream(message), id))).toString('latin1'),
    ]);
  return { text, html, files };
};

/** A file in uuencode. @param zero the character of zero */
function uuencoded(name: string, content: string, { zero = '`', end = ['`', 'end'] } = {}): string[] {
  const bytes = Buffer.from(content, 'latin1');
  const digit = (value: number): string => (value === 0 ? zero : String.fromCharCode(value + 32));
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 45) {
    const row = bytes.subarray(at, at + 45);
    let text = digit(row.length);
    for (let n = 0; n < row.length; n += 3) {
      const [a, b = 0, c = 0] = row.subarray(n, n + 3) as unknown as [number, number?, number?];
      text += [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63].map(digit).join('');
    }
    rows.push(zero === ' ' ? text.trimEnd() : text);
  }
  return [`begin 644 ${name}`, ...rows, ...end];
}

const CONTENT = Array.from({ length: 400 }, (_, n) => String.fromCharCode(n % 256)).join('');

describe('files in the text of a mail', () => {
  test('are attachments, and not part of the text', async () => {
    const message = lines(
      'Subject: x',
      '',
      'Hello,',
      '',
      uuencoded('my report.pdf', CONTENT),
      '',
      'Bye',
      uuencoded('b.txt', 'b', { zero: ' ', end: [' ', 'end'] }),
    );
    const { text, html, files } = await read(message);
    expect(files).toEqual([
      ['my report.pdf', 'application/pdf', CONTENT],
      ['b.txt', 'text/plain', 'b'],
    ]);
    expect(text).toBe('Hello,\n\n\nBye');
    expect(html).not.toContain('begin');
  });

  test('come after the parts of the message', async () => {
    const message = lines(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Text',
      uuencoded('a.bin', 'abc').map((line) => line.replaceAll('=', '=3D')),
      '--b',
      'Content-Type: image/png; name=c.png',
      '',
      'png',
      '--b--',
    );
    const { text, files } = await read(message);
    expect([text, files]).toEqual([
      'Text',
      [
        ['c.png', 'image/png', 'png'],
        ['a.bin', 'application/octet-stream', 'abc'],
      ],
    ]);
  });

  test.each([
    ['without an end', uuencoded('a.txt', CONTENT, { end: [] })],
    ['without data', ['begin 644 a.txt', 'end']],
    ['with a sentence in it', [...uuencoded('a.txt', 'abc', { end: [] }), 'This is no data.', 'end']],
    ['without a mode', ['begin a.txt', '#86)C', '`', 'end']],
    ['that is quoted', uuencoded('a.txt', 'abc').map((line) => `> ${line}`)],
  ])('what looks like a file stays: %s', async (_, body) => {
    const { text, files } = await read(lines('Subject: x', '', 'See', body));
    expect([text.split('\n'), files]).toEqual([['See', ...body], []]);
  });

  test('a lost file does not hide the next one', async () => {
    const { text, files } = await read(
      lines('Subject: x', '', 'begin 644 lost.txt', '#86)C', uuencoded('a.txt', 'abc')),
    );
    expect(files).toEqual([['a.txt', 'text/plain', 'abc']]);
    expect(text.split('\n')).toEqual(['begin 644 lost.txt', '#86)C']);
  });

  test('very many lines are read in linear time', () => {
    for (const line of ['begin 644 a', 'begin 644 a\n#86)C', '#86)C', '', 'end', '\r'])
      expect(splitUuencoded(`begin 644 a\n${`${line}\n`.repeat(300_000)}`).files).toHaveLength(0);
    // Only the last row has no bytes.
    expect(splitUuencoded('begin 644 a\n#86)C\n\n\nend\n').files).toHaveLength(0);
    const many = `${uuencoded('a', 'abc').join('\n')}\n`.repeat(2_000);
    expect(splitUuencoded(many).files).toHaveLength(100);
  });
});

const u16 = (value: number): Buffer => Buffer.from([value & 255, value >> 8]);
const u32 = (value: number): Buffer =>
  Buffer.from([value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24]);
const attribute = (level: number, id: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([level]), u32(id), u32(value.length), value, u16(0)]);
const padded = (value: Buffer): Buffer =>
  Buffer.concat([u32(value.length), value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
const property = (type: number, id: number, ...values: Buffer[]): Buffer =>
  Buffer.concat([u16(type), u16(id), ...values]);
const properties = (...list: Buffer[]): Buffer => Buffer.concat([u32(list.length), ...list]);
const unicode = (text: string): Buffer => padded(Buffer.from(`${text}\0`, 'utf16le'));
const tnef = (...attributes: Buffer[]): Buffer => Buffer.concat([u32(0x223e9f78), u16(1), ...attributes]);

const NAMED = property(
  0x1e,
  0x8001,
  Buffer.alloc(16),
  u32(1),
  padded(Buffer.from('Keywords\0', 'utf16le')),
  u32(1),
  padded(Buffer.from('x\0')),
);
const OUTLOOK = tnef(
  attribute(1, 0x69007, Buffer.concat([u32(1252), u32(0)])),
  attribute(
    1,
    0x69003,
    properties(
      property(0x40, 0x0039, Buffer.alloc(8)),
      NAMED,
      property(0x0b, 0x0e1b, u32(1)),
      property(0x1003, 0x0e99, u32(2), u32(1), u32(2)),
      property(0x1f, 0x1000, u32(1), unicode('Grüße')),
      property(0x102, 0x1013, u32(1), padded(Buffer.from('<p>Gr\xfc\xdfe</p>', 'latin1'))),
    ),
  ),
  attribute(2, 0x69002, Buffer.alloc(14)),
  attribute(2, 0x18010, Buffer.from('REPORT~1.PDF\0')),
  attribute(2, 0x6800f, Buffer.from(CONTENT, 'latin1')),
  attribute(
    2,
    0x69005,
    properties(
      property(0x1f, 0x3707, u32(1), unicode('Report – März.pdf')),
      property(0x1e, 0x370e, u32(1), padded(Buffer.from('application/pdf\0'))),
    ),
  ),
  attribute(2, 0x69002, Buffer.alloc(14)),
  attribute(2, 0x18010, Buffer.from('..\\Fu\xdf.txt\0', 'latin1')),
  attribute(2, 0x6800f, Buffer.from('foot')),
);

const withTnef = (bytes: Buffer, text: string[], type = 'application/ms-tnef; name="winmail.dat"'): string =>
  lines(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    text,
    '--b',
    `Content-Type: ${type}`,
    'Content-Disposition: attachment; filename=winmail.dat',
    'Content-Transfer-Encoding: base64',
    '',
    bytes.toString('base64').match(/.{1,76}/g) ?? [],
    '--b',
    'Content-Type: image/png; name=c.png',
    '',
    'png',
    '--b--',
  );

describe('winmail.dat', () => {
  test.each([
    'application/ms-tnef; name="winmail.dat"',
    'application/vnd.ms-tnef',
    'application/octet-stream',
  ])('its files are attachments after the others: %s', async (type) => {
    const { text, files } = await read(withTnef(OUTLOOK, ['Text'], type));
    expect(text).toBe('Text');
    expect(files.map(([name]) => name)).toEqual(['winmail.dat', 'c.png', 'Report – März.pdf', 'Fuß.txt']);
    expect(files.slice(2).map(([, ...file]) => file)).toEqual([
      ['application/pdf', CONTENT],
      ['text/plain', 'foot'],
    ]);
  });

  test('its text is that of a mail without another one', async () => {
    const { text, html } = await read(withTnef(OUTLOOK, ['']));
    expect([text, html]).toEqual(['Grüße', '<p>Grüße</p>']);
    const plain = tnef(attribute(1, 0x2800c, Buffer.from('Only text\0')));
    expect((await read(withTnef(plain, ['']))).text).toBe('Only text');
  });

  test.each([
    [50_220, '\x1b$B$"\x1b(B', 'あ'],
    [20_866, '\xf0\xd2', 'Пр'],
    [28_592, '\xb1', 'ą'],
    [28_591, '\xe9', 'é'],
  ])('its HTML has the codepage %i', (codepage, bytes, text) => {
    const html = property(0x102, 0x1013, u32(1), padded(Buffer.from(bytes, 'latin1')));
    const page = property(0x03, 0x3fde, u32(codepage));
    expect(readTnef(tnef(attribute(1, 0x69003, properties(html, page)))).html).toBe(text);
  });

  test('files beyond the limit do not replace the last one', () => {
    const file = (n: number): Buffer[] => [
      attribute(2, 0x69002, Buffer.alloc(14)),
      attribute(2, 0x6800f, Buffer.from(String(n))),
    ];
    const { files } = readTnef(tnef(...Array.from({ length: 202 }, (_, n) => file(n)).flat()));
    expect(files.map(({ read: bytes }) => String([...(bytes() as Iterable<Buffer>)][0]))).toEqual(
      Array.from({ length: 200 }, (_, n) => String(n)),
    );
  });

  test('what is damaged has what can be read', () => {
    expect(readTnef(Buffer.alloc(0))).toEqual({ text: null, html: null, files: [] });
    expect(readTnef(Buffer.from('x'.repeat(100)))).toEqual({ text: null, html: null, files: [] });
    for (let length = 0; length < OUTLOOK.length; length += 1)
      expect(() => readTnef(OUTLOOK.subarray(0, length))).not.toThrow();
    for (let at = 0; at < OUTLOOK.length; at += 1) {
      const damaged = Buffer.from(OUTLOOK);
      damaged[at] = 0xff;
      expect(() => readTnef(damaged)).not.toThrow();
    }
    const hostile = tnef(
      attribute(1, 0x69003, properties(property(0x1e, 0x1000, u32(0xffff_ffff), Buffer.alloc(4_000_000)))),
    );
    expect(readTnef(hostile).files).toEqual([]);
  });
});

describe('the status of a bounce', () => {
  const BOUNCE = lines(
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    '',
    'It could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '--b',
    'Content-Type: message/rfc822',
    '',
    'Subject: x',
    '',
    'x',
    '--b--',
  );

  test('is an attachment', async () => {
    const { text, attachments } = await parseMessage(stream(BOUNCE));
    expect([text, attachments.map(({ contentType }) => contentType)]).toEqual([
      'It could not be delivered.',
      ['message/delivery-status', 'message/rfc822'],
    ]);
    expect(hasStatus(attachments)).toBe(true);
    expect(String(await buffer(await openAttachment(stream(BOUNCE), 'ATT00002')))).toContain('Subject: x');
  });

  test('is not counted by the ids of a message that was stored without it', async () => {
    const withStatus = hasStatus([{ contentType: 'message/rfc822' }]);
    const file = await openAttachment(stream(BOUNCE), 'ATT00001', withStatus);
    expect(String(await buffer(file))).toContain('Subject: x');
  });

  test('of an international address was always a file, which says nothing about the other kind', async () => {
    const global = ['--b', 'Content-Type: message/global-delivery-status', '', 'Action: failed'];
    const both = BOUNCE.replace(
      '--b\r\nContent-Type: message/rfc822',
      (part) => `${lines(...global)}${part}`,
    );
    const stored = [{ contentType: 'message/global-delivery-status' }, { contentType: 'message/rfc822' }];
    expect(hasStatus(stored)).toBe(false);
    const old = await openAttachment(stream(both), 'ATT00002', hasStatus(stored));
    expect(String(await buffer(old))).toContain('Subject: x');
    const { attachments } = await parseMessage(stream(both));
    expect(hasStatus(attachments)).toBe(true);
    const alone = BOUNCE.replace('message/delivery-status', 'message/global-delivery-status');
    const parsed = await parseMessage(stream(alone));
    expect([parsed.text, parsed.attachments.map(({ id, contentType }) => [id, contentType])]).toEqual([
      'It could not be delivered.',
      [
        ['ATT00001', 'message/global-delivery-status'],
        ['ATT00002', 'message/rfc822'],
      ],
    ]);
    const file = await openAttachment(stream(alone), 'ATT00002', hasStatus(parsed.attachments));
    expect(String(await buffer(file))).toContain('Subject: x');
  });
});
