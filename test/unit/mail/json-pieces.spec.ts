import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { jsonBytes } from '../../../src/modules/mail/mail-upstream.js';
import { runs } from '../../support/property-runs.ts';

const read = (bytes: Buffer | Readable): Promise<string> | string =>
  Buffer.isBuffer(bytes) ? bytes.toString() : text(bytes);

test('equal JSON.stringify for long and short strings', async () => {
  const long = fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 9 }), fc.nat(200_000))
    .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)));
  const value = fc.dictionary(fc.string(), fc.oneof(long, fc.array(long, { maxLength: 3 }), fc.jsonValue()));
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      expect(JSON.parse(await read(jsonBytes(given)))).toEqual(JSON.parse(JSON.stringify(given)));
    }),
    { numRuns: runs(200) },
  );
});

test('surrogate pairs survive splitting', async () => {
  for (const shift of ['', 'x']) {
    const content = shift + '😀"\\\n'.repeat(50_000);
    expect(JSON.parse(await read(jsonBytes({ a: 1, content, b: [content] })))).toEqual({
      a: 1,
      content,
      b: [content],
    });
  }
});

test('every piece is short', async () => {
  const sizes: number[] = [];
  for await (const piece of jsonBytes({ content: 'A'.repeat(1_000_000) }) as Readable)
    sizes.push((piece as Buffer).length);
  expect(Math.max(...sizes)).toBe(64 * 1024);
  expect(jsonBytes({ content: 'short' })).toBeInstanceOf(Buffer);
});
