import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const NUMBER_BYTES = 4;

/**
 * Packs bodies of successive revisions: compressed together, a body costs little more than its difference from the one
 * before it. Format: one zstd frame (RFC 8878) with the number of bodies, their lengths in bytes (32 bit, big-endian) and
 * their UTF-8.
 */
export async function packBodies(bodies: readonly string[]): Promise<Buffer> {
  const parts = bodies.map((body) => Buffer.from(body));
  const head = Buffer.alloc(NUMBER_BYTES * (parts.length + 1));
  head.writeUInt32BE(parts.length);
  parts.forEach((part, n) => head.writeUInt32BE(part.length, NUMBER_BYTES * (n + 1)));
  return compress(Buffer.concat([head, ...parts]));
}

/**
 * @param index of the body in the pack, from 0
 * @throws RangeError where the pack has no such body
 */
export async function unpackBody(pack: Buffer, index: number): Promise<string> {
  const bytes = await decompress(pack);
  const count = bytes.readUInt32BE();
  if (index < 0 || index >= count) throw new RangeError(`the pack has ${count} bodies, not number ${index}`);
  let start = NUMBER_BYTES * (count + 1);
  for (let n = 1; n <= index; n++) start += bytes.readUInt32BE(NUMBER_BYTES * n);
  return bytes.toString('utf8', start, start + bytes.readUInt32BE(NUMBER_BYTES * (index + 1)));
}
