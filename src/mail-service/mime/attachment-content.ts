import { Readable } from 'node:stream';
import { countForwardedBytes } from '../../platform/memory/garbage.js';
import { bufferOf, type FileBytes, sizeOf, streamOf } from '../storage/bytes.js';
import { cleanText } from './clean-text.js';

const PADDING = '='.charCodeAt(0);
const ALPHABET = new Uint8Array(256);
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
  ALPHABET[letter] = 1;

/**
 * Decodes the content of an attachment. Plain base64 of a file is streamed; other encodings are read whole.
 */
export async function contentOf(
  content: string | FileBytes,
  encoding: BufferEncoding,
): Promise<Buffer | Readable> {
  if (typeof content === 'string') return Buffer.from(content, encoding);
  if (encoding.toLowerCase() === 'base64' && (await isPlainBase64(content)))
    return Readable.from(decoded(content));
  const text = JSON.parse(`"${(await bufferOf(content)).toString('utf8')}"`) as string;
  return Buffer.from(cleanText(text), encoding);
}

/** True for complete groups of the standard alphabet, which can be decoded independently. */
async function isPlainBase64(content: FileBytes): Promise<boolean> {
  if (sizeOf(content) % 4 !== 0) return false;
  let padded = false;
  for await (const chunk of streamOf(content) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (ALPHABET[byte] === 1 && !padded) continue;
      if (byte !== PADDING) return false;
      padded = true;
    }
    countForwardedBytes(chunk.length);
  }
  return true;
}

async function* decoded(content: FileBytes): AsyncGenerator<Buffer> {
  let rest = '';
  for await (const chunk of streamOf(content) as AsyncIterable<Buffer>) {
    const text = rest + chunk.toString('latin1');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    yield Buffer.from(text.slice(0, whole), 'base64');
    countForwardedBytes(chunk.length);
  }
}
