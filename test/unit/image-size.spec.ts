import fc from 'fast-check';
import { imageSize } from '../../src/lib/image-size/index.js';
import { runs } from '../support/property-runs.ts';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );

const PNG = bytes('\u0089PNG\r\n\u001A\n', [0, 0, 0, 13], 'IHDR', [0, 0, 1, 44, 0, 0, 0, 200]);
const GIF = bytes('GIF89a', [0x2c, 1, 200, 0]);
const JPEG = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 200, 1, 0x2c, 3]);
const webp = (kind: string, rest: number[]): Buffer => bytes('RIFF', [0, 0, 0, 0], 'WEBP', kind, rest);
const LOSSY = webp('VP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, 0x2c, 1, 200, 0]);
const LOSSLESS = webp('VP8L', [0, 0, 0, 0, 0x2f, 0x2b, 0xc1, 0x31, 0, 0, 0, 0, 0, 0]);
const EXTENDED = webp('VP8X', [10, 0, 0, 0, 0, 0, 0, 0, 0x2b, 1, 0, 199, 0, 0]);

describe('the size of an image', () => {
  it.each([
    ['png', PNG],
    ['gif', GIF],
    ['jpeg', JPEG],
    ['webp', LOSSY],
    ['webp', LOSSLESS],
    ['webp', EXTENDED],
  ])('is read from %s', (format, image) => {
    expect(imageSize(image)).toEqual({ format, width: 300, height: 200 });
  });

  it('is undefined for truncated images', () => {
    for (const image of [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED])
      for (let length = 0; length < image.length - 4; length += 1)
        expect(imageSize(image.subarray(0, length))).toBeUndefined();
  });

  it('is found or undefined for any bytes', () => {
    const start = fc.constantFrom(PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED, Buffer.alloc(0));
    fc.assert(
      fc.property(start, fc.nat(30), fc.uint8Array({ maxLength: 200 }), (image, cut, rest) => {
        const size = imageSize(Buffer.concat([image.subarray(0, cut), rest]));
        if (size) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
