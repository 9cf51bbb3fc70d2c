import fc from 'fast-check';
import { packBodies, unpackBody } from '../../../src/modules/notes/history/revision-pack.js';

describe('packs of revisions', () => {
  test('give back each body', async () => {
    const body = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme', minLength: 2_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 20 }), async (bodies) => {
        const pack = await packBodies(bodies);
        const found = await Promise.all(bodies.map((_, n) => unpackBody(pack, n)));
        expect(found).toEqual(bodies);
      }),
      { examples: [[['']], [['a', '', 'é😀', '']]] },
    );
  });

  test('reject the index of a body that they do not have', async () => {
    const pack = await packBodies(['a', 'b']);
    await expect(unpackBody(pack, 2)).rejects.toThrow(RangeError);
    await expect(unpackBody(pack, -1)).rejects.toThrow(RangeError);
  });

  test('a hundred versions of a text cost little more than one', async () => {
    const text = Array.from(
      { length: 60 },
      (_, n) => `<p>Line ${n}: ${(n * 7_919).toString(36).repeat(20)}</p>`,
    );
    const versions = Array.from({ length: 100 }, (_, n) => text.with(n % 60, `<p>edit ${n}</p>`).join(''));
    const [one, all] = await Promise.all([packBodies(versions.slice(0, 1)), packBodies(versions)]);
    expect(all.length).toBeLessThan(one.length * 10);
  });
});
