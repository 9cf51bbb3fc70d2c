import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import fc from 'fast-check';
import { LongStrings } from '../../../src/mail-service/http/body.js';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

const KB = 1024;
let directory: string;
let files = 0;
const file = (): string => path.join(directory, `file-${(files += 1)}`);

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'long-strings-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The text with the moved strings in their places. */
function whole(json: string, strings: LongStrings): string {
  for (const [marker, { file: name, start, end }] of strings.byMarker) {
    expect(json.split(marker)).toHaveLength(2);
    json = json.replace(marker, () => readFileSync(name).subarray(start, end).toString('utf8'));
  }
  return json;
}

test('moved strings and remaining JSON form the text, however it is split', async () => {
  const text = fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), fc.nat(40 * KB)).map(
    // Escapes, among them quotes and backslashes, and characters of several bytes.
    ([piece, length]) => piece.repeat(Math.ceil(length / piece.length)),
  );
  const value = fc.array(fc.record({ name: fc.string(), text, '"': fc.array(text, { maxLength: 2 }) }), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(value, fc.array(fc.integer({ min: 1, max: 30 * KB })), async (given, cuts) => {
      const json = Buffer.from(JSON.stringify(given));
      const strings = new LongStrings(file());
      let at = 0;
      for (const cut of cuts) {
        await strings.write(json.subarray(at, at + cut));
        at += cut;
      }
      await strings.write(json.subarray(at));
      const short = await strings.end();
      expect(whole(short, strings)).toBe(json.toString());
      const longest = (each: unknown): number =>
        typeof each === 'string'
          ? Buffer.byteLength(JSON.stringify(each)) - 2
          : Math.max(0, ...Object.values(each ?? {}).map(longest));
      expect(longest(JSON.parse(short))).toBeLessThanOrEqual(16 * KB);
    }),
    { numRuns: runs(100), endOnFailure: true },
  );
});

test('a dozen long strings keep their places', async () => {
  const given = Array.from({ length: 12 }, (_, n) => `${n} `.repeat(10 * KB));
  const strings = new LongStrings(file());
  await strings.write(Buffer.from(JSON.stringify(given)));
  const short = await strings.end();
  expect(strings.byMarker.size).toBe(12);
  expect(whole(short, strings)).toBe(JSON.stringify(given));
});

test('invalid JSON is unchanged, and an unterminated string has no marker', async () => {
  for (const text of ['', '"', `{"a":"${'x'.repeat(20 * KB)}`, '"\\', `"${'y'.repeat(20 * KB)}\\"`]) {
    const strings = new LongStrings(file());
    await strings.write(Buffer.from(text));
    const short = await strings.end();
    expect(text.startsWith(short)).toBe(true);
    expect(() => JSON.parse(short)).toThrow(SyntaxError);
    expect(strings.byMarker.size).toBe(0);
  }
});

test('retains no memory of long strings', async () => {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const strings = new LongStrings(file());
  collect();
  const before = process.memoryUsage().arrayBuffers;
  await strings.write(Buffer.from('{"content":"'));
  for (let n = 0; n < 1_024; n += 1) await strings.write(Buffer.alloc(64 * KB, 'A'));
  await strings.write(Buffer.from('"}'));
  // Another thread returns collected memory asynchronously.
  await until('the memory to be free', () => {
    collect();
    return process.memoryUsage().arrayBuffers - before < 32 * KB * KB;
  });
  expect(JSON.parse(await strings.end())).toEqual({ content: [...strings.byMarker.keys()][0] });
});
