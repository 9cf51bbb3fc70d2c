import { Readable } from 'node:stream';
import type { AttachmentStream } from 'mailparser';
import { toAttachment } from './file-attachment.js';
import { readTnef } from './tnef.js';

/** A longer stream, in bytes, stays one attachment. */
const MAX_LENGTH = 33_554_432;

const FROM_TNEF: WeakSet<object> = new WeakSet();

/** True for `winmail.dat` of Outlook, and for a file of it. */
export const isTnef = (attachment: Pick<AttachmentStream, 'contentType' | 'filename'>): boolean =>
  FROM_TNEF.has(attachment) ||
  String(attachment.contentType).toLowerCase() === 'application/ms-tnef' ||
  /^winmail\.dat$/i.test(attachment.filename ?? '');

/**
 * The files of a TNEF attachment in its place. The attachment itself follows if it has no files, or more than files, such as messages.
 */
export async function* unpackTnef(attachment: AttachmentStream): AsyncGenerator<AttachmentStream> {
  const source = (attachment.content as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const chunks: Buffer[] = [];
  let length = 0;
  let isComplete = false;
  while (length <= MAX_LENGTH) {
    const { value, done } = await source.next();
    isComplete = done === true;
    if (isComplete) break;
    chunks.push(value as Buffer);
    length += (value as Buffer).length;
  }
  const found = isComplete ? readTnef(Buffer.concat(chunks)) : undefined;
  for (const file of found?.files ?? []) {
    const one = toAttachment(file);
    FROM_TNEF.add(one);
    yield one;
  }
  if (found && found.files.length > 0 && !found.hasMore) return;
  yield Object.create(attachment, {
    content: { value: Readable.from(contentOf(chunks, source)) },
  }) as AttachmentStream;
}

/** The content that has been read, and the rest. */
async function* contentOf(chunks: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  yield* { [Symbol.asyncIterator]: () => rest };
}
