import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { openAttachment, readAttachments } from '../../../src/mail-service/mime/attachments.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';
import { readTnef } from '../../../src/mail-service/mime/tnef.js';
import { runs } from '../../support/property-runs.ts';

const u16 = (value: number): Buffer => Buffer.from([value & 255, value >> 8]);
const u32 = (value: number): Buffer =>
  Buffer.from([value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24]);
const attribute = (level: number, id: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([level]), u16(id), u16(6), u32(data.length), data, u16(0)]);
const tnef = (...attributes: Buffer[]): Buffer =>
  Buffer.concat([u32(0x223e9f78), u16(1), attribute(1, 0x9006, u32(0x10000)), ...attributes]);
const padded = (data: Buffer): Buffer =>
  Buffer.concat([u32(data.length), data, Buffer.alloc((4 - (data.length % 4)) % 4)]);
const unicode = (id: number, text: string): Buffer =>
  Buffer.concat([u16(0x1f), u16(id), u32(1), padded(Buffer.from(`${text}\0`, 'utf16le'))]);
/** A property with a name, of two numbers, which come before the others. */
const named = Buffer.concat([
  u16(0x1003),
  u16(0x8001),
  Buffer.alloc(16),
  u32(1),
  padded(Buffer.from('Key\0', 'utf16le')),
  u32(2),
  u32(7),
  u32(8),
]);
const properties = (...list: Buffer[]): Buffer =>
  attribute(2, 0x9005, Buffer.concat([u32(list.length + 1), named, ...list]));
const begin = attribute(2, 0x9002, Buffer.alloc(14));
const titled = (title: string): Buffer => attribute(2, 0x8010, Buffer.from(`${title}\0`, 'latin1'));
const content = (text: string): Buffer => attribute(2, 0x800f, Buffer.from(text));
const TWO = tnef(
  attribute(1, 0x9007, u32(1251)),
  begin,
  titled('PLAN~1.PDF'),
  content('the plan'),
  properties(unicode(0x370e, 'application/pdf'), unicode(0x3707, 'plan für alle.pdf')),
  begin,
  content('the list'),
  titled('\xd1\xef\xe8\xf1\xee\xea.txt'),
);

const message = (file: Buffer, type = 'application/ms-tnef; name="winmail.dat"'): Buffer =>
  Buffer.from(
    [
      'From: pat@x.example',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      'letter',
      '--b',
      `Content-Type: ${type}`,
      'Content-Transfer-Encoding: base64',
      '',
      file.toString('base64').replace(/.{76}/g, '$&\r\n'),
      '--b',
      'Content-Type: text/plain; name=last.txt',
      '',
      'last',
      '--b--',
      '',
    ].join('\r\n'),
  );
const parse = (raw: Buffer) => parseMessage(Readable.from([raw]));
const contentOf = async (raw: Buffer, id: string): Promise<string> =>
  (await buffer(await openAttachment(Readable.from([raw]), id))).toString();

describe('winmail.dat of Outlook', () => {
  test('its files are attachments in its place', async () => {
    const raw = message(TWO);
    const { text, attachments, calendar } = await parse(raw);
    expect(text).toBe('letter');
    expect(attachments).toMatchObject([
      { id: 'ATT00001', filename: 'plan für alle.pdf', contentType: 'application/pdf', decodedSize: 8 },
      { id: 'ATT00002', filename: 'Список.txt', contentType: 'text/plain', decodedSize: 8 },
      { id: 'ATT00003', filename: 'last.txt', decodedSize: 4 },
    ]);
    expect(attachments[0]).toMatchObject({
      disposition: 'attachment',
      cid: null,
      transferEncoding: 'base64',
    });
    expect(attachments[0]?.hash).not.toBe(attachments[1]?.hash);
    expect(await Promise.all(attachments.map(({ id }) => contentOf(raw, id)))).toEqual([
      'the plan',
      'the list',
      'last',
    ]);
    const read = await readAttachments(Readable.from([raw]), ['ATT00002'], '/nonexistent');
    expect(read.map(({ info, content: bytes }) => [info.filename, bytes.toString()])).toEqual([
      ['Список.txt', 'the list'],
    ]);
    // Outlook may hide an invitation in the stream.
    expect(calendar).toMatchObject({ method: null, content: null });
  });

  test('it stays an attachment if it has no file, or a message too', async () => {
    const embedded = Buffer.concat([u16(0x0d), u16(0x3701), u32(1), padded(Buffer.alloc(20))]);
    const cases: [Buffer, string[]][] = [
      [tnef(), ['winmail.dat']],
      [Buffer.from('no TNEF'), ['winmail.dat']],
      [tnef(begin, titled('a.txt'), content('a'), begin, properties(embedded)), ['a.txt', 'winmail.dat']],
    ];
    for (const [file, names] of cases) {
      const raw = message(file);
      const { attachments } = await parse(raw);
      expect(attachments.map(({ filename }) => filename)).toEqual([...names, 'last.txt']);
      const last = attachments[names.length - 1];
      expect(last?.decodedSize).toBe(file.length);
      expect(Buffer.from(await contentOf(raw, last?.id ?? ''))).toEqual(Buffer.from(file.toString()));
      expect(last?.hash).toHaveLength(64);
    }
  });

  test('it is known by its name too', async () => {
    const { attachments } = await parse(message(TWO, 'application/octet-stream; name=WINMAIL.DAT'));
    expect(attachments.map(({ filename }) => filename)).toContain('plan für alle.pdf');
  });

  test('malformed bytes end the stream, and no other error occurs', () => {
    for (let length = 0; length < TWO.length; length += 1) readTnef(TWO.subarray(0, length));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(TWO.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = Buffer.from(TWO);
        for (const [at, value] of changes) bytes[at] = value;
        readTnef(bytes);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('more files, or more properties than a mail has, are not read', () => {
    const repeated = (piece: Buffer, count: number): Buffer =>
      Buffer.concat(Array.from({ length: count }, () => piece));
    const property = unicode(0x3001, 'x');
    const many = Buffer.concat([u32(0xffffffff), repeated(property, 100_000)]);
    expect(readTnef(tnef(begin, content('a'), attribute(2, 0x9005, many)))).toMatchObject({
      files: [{ filename: 'x' }],
    });
    const values = Buffer.concat([u32(1), u16(0x1003), u16(0x3001), u32(0xffffffff), Buffer.alloc(800_000)]);
    expect(readTnef(tnef(begin, content('a'), attribute(2, 0x9005, values)))?.files).toHaveLength(1);
    const files = repeated(Buffer.concat([begin, content('')]), 1_000);
    expect(readTnef(tnef(files))).toMatchObject({ hasMore: true, files: { length: 200 } });
    expect(readTnef(tnef(repeated(titled(''), 100_000)))).toMatchObject({ hasMore: true, files: [] });
  });
});
