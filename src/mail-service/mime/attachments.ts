import { once } from 'node:events';
import { Readable } from 'node:stream';
import { type Bytes, gather, SpoolFile, streamOf } from '../storage/bytes.js';
import type { AttachmentInfo } from './message.js';
import { describe, walk } from './walk.js';

/** An attachment that is taken over is kept in memory up to this many bytes. */
const SHORT = 65_536;

/** Streams one attachment of a message that was parsed before, and leaves the rest unread. */
export async function openAttachment(source: Readable, id: string): Promise<Readable> {
  const found = Promise.withResolvers<Readable>();
  const over = walk(source, async (attachment, each) => {
    const content = attachment.content as Readable;
    if (each !== id) {
      content.resume();
      await once(content, 'end');
      return;
    }
    found.resolve(content);
    // A reader that goes away ends the walk.
    await new Promise<void>((resolve, reject) => {
      content
        .once('end', resolve)
        .once('error', reject)
        .once('close', () => reject(new Error('closed')));
    });
  });
  over.then(
    () => found.reject(new Error('there is no such attachment')),
    (error: unknown) => {
      found.reject(error);
      found.promise.then((content) => content.destroy(error as Error)).catch(() => undefined);
    },
  );
  return found.promise;
}

/**
 * The contents of some attachments, with what describes them.
 * @param file for what is long
 */
export async function readAttachments(
  source: Readable,
  ids: readonly string[],
  file: string,
): Promise<{ info: AttachmentInfo; content: Buffer | Readable }[]> {
  const spool = new SpoolFile(file);
  const taken: { info: AttachmentInfo; bytes: Bytes }[] = [];
  try {
    await walk(source, async (attachment, id) => {
      if (!ids.includes(id)) return void (await describe(attachment, id));
      const bytes: { all?: Bytes } = {};
      const info = await describe(attachment, id, async (content) => {
        bytes.all = await gather(content, spool, SHORT);
      });
      taken.push({ info, bytes: bytes.all as Bytes });
    });
  } finally {
    await spool.close();
  }
  return taken.map(({ info, bytes }) => ({
    info,
    content: bytes instanceof Uint8Array ? Buffer.from(bytes) : Readable.from(later(bytes)),
  }));
}

/** Opens the file when it is read: a message may have a thousand parts. */
async function* later(bytes: Bytes): AsyncGenerator<Uint8Array> {
  yield* streamOf(bytes) as AsyncIterable<Buffer>;
}
