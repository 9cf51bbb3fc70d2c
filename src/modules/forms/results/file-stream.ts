import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { attachmentNamed, titledFileName } from '../../../platform/http/replies/file-reply.js';

const BUFFER = 256 * 1024;

/** The header of a file with this title, without the first characters that a spreadsheet would read as a formula. */
export function attachmentTitled(
  title: string,
  extension: string,
  fallback: string,
): { 'Content-Disposition': string } {
  const name = titledFileName(title.replace(/^[\s=+\-@＝＋－＠]+/u, ''), extension, fallback);
  return { 'Content-Disposition': attachmentNamed(name, fallback) };
}

/** Writes to a response as fast as the client reads. Rejects when the client has disconnected. */
export type WriteBytes = (chunk: string | Uint8Array) => Promise<void>;

/**
 * Returns a stream of the chunks that `produce` writes. An error of `produce` breaks the stream, so that a truncated file never
 * looks complete.
 */
export function fileStream(produce: (write: WriteBytes) => Promise<void>): Readable {
  const out = new PassThrough({ highWaterMark: BUFFER });
  const closed = once(out, 'close').then(() => {
    throw new Error('the client has disconnected');
  });
  closed.catch(() => undefined);
  const write: WriteBytes = async (chunk) => {
    if (out.destroyed) throw new Error('the client has disconnected');
    if (!out.write(chunk)) await Promise.race([once(out, 'drain'), closed]);
  };
  void produce(write).then(
    () => out.end(),
    (error: unknown) => out.destroy(error instanceof Error ? error : new Error('export failed')),
  );
  return out;
}
