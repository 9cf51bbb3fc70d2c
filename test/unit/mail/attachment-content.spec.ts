import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { contentOf } from '../../../src/mail-service/mime/compose-message.js';
import { INVALID_BASE64 } from '../../../src/mail-service/mime/message.js';
import { runs } from '../../support/property-runs.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'attachment-content-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Decodes a content at an offset of a file. */
async function fromFile(content: string, encoding: BufferEncoding) {
  const file = path.join(directory, 'file');
  const text = Buffer.from(JSON.stringify(content).slice(1, -1));
  writeFileSync(file, Buffer.concat([Buffer.from('before'), text, Buffer.from('after')]));
  const made = await contentOf({ file, start: 6, end: 6 + text.length }, encoding);
  return { streamed: made instanceof Readable, bytes: Buffer.isBuffer(made) ? made : await buffer(made) };
}

test('plain base64 is decoded while streaming', async () => {
  for (const length of [0, 1, 2, 3, 65_535, 65_536, 65_537, 400_001]) {
    const bytes = Buffer.from(Array.from({ length }, (_, n) => (n * 31) % 256));
    const made = await fromFile(bytes.toString('base64'), 'base64');
    expect(made.streamed).toBe(true);
    expect(made.bytes.equals(bytes)).toBe(true);
  }
});

/** What `Buffer` reads whole: complete groups of one of the two alphabets (RFC 4648), and padding at the end only. */
function isBase64(text: string): boolean {
  const letters = [...text]
    .filter((letter) => letter.trim() !== '')
    .join('')
    .replace(/={1,2}$/, '');
  return [...letters].every((letter) => /[\w+/-]/.test(letter)) && letters.length % 4 !== 1;
}

test('other content is decoded as by Buffer, and rejected as base64 if something would be lost', async () => {
  const piece = fc.oneof(
    fc.constantFrom('=', '==', '\r\n', '-_-_', 'QUJD', 'QQ==', ' ', 'é', '\\', '"', '0aff', '€'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.base64String({ maxLength: 40 }),
  );
  const content = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const encoding = fc.constantFrom<BufferEncoding>('base64', 'base64url', 'hex', 'utf8', 'latin1', 'utf16le');
  await fc.assert(
    fc.asyncProperty(content, encoding, async (text, each) => {
      if (each.startsWith('base64') && !isBase64(text))
        return expect(fromFile(text, each)).rejects.toThrow(INVALID_BASE64);
      const { bytes } = await fromFile(text, each);
      return expect(bytes.toString('hex')).toBe(Buffer.from(text, each).toString('hex'));
    }),
    { numRuns: runs(500), endOnFailure: true },
  );
});

test('the same holds for long contents', async () => {
  const plain = Buffer.alloc(150_000, 'abcdefg').toString('base64');
  const lossy = [
    plain.slice(3),
    `QQ==${plain}`,
    `Q${plain}===`,
    `é${plain}xyz`,
    `${plain}Q===QQ`,
    `${plain}====`,
  ];
  for (const text of lossy) await expect(fromFile(text, 'base64')).rejects.toThrow(INVALID_BASE64);
  for (const text of [
    plain.slice(1),
    `\r\n${plain}`,
    plain.replaceAll('X', '-'),
    plain.replace(/.{76}/g, '$&\r\n'),
  ]) {
    const { bytes } = await fromFile(text, 'base64');
    expect(bytes.equals(Buffer.from(text, 'base64'))).toBe(true);
  }
});
