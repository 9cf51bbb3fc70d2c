import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { withReplacedIds } from '../../../src/backup/workspace/imported-rows.js';
import { runs } from '../../support/property-runs.ts';

/** Splits bytes at these positions. */
async function* chunks(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

describe('ids in rows are replaced', () => {
  const ids = new Map<string, string>([
    [randomUUID(), randomUUID()],
    [randomUUID(), randomUUID()],
  ]);
  const known = [...ids.keys()];

  test('with any boundaries of chunks, and other bytes stay', async () => {
    const piece = fc.oneof(
      fc.constantFrom(...known, randomUUID(), '{', ',', '\t', '\\N', '-', '\n', 'ä 中 🙂'),
      fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constantFrom(...known).map((id) => id.slice(0, 35)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        async (pieces, cuts) => {
          const text = pieces.map((each) => Buffer.from(each).toString('latin1')).join('');
          const expected = text.replaceAll(
            /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/g,
            (id) => ids.get(id) ?? id,
          );
          const result = await all(withReplacedIds(chunks(Buffer.from(text, 'latin1'), cuts), ids));
          expect(result.toString('latin1')).toBe(expected);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
