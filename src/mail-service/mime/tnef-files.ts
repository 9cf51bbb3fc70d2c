import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AttachmentStream, Headers } from 'mailparser';
import { detectMimeType } from 'nodemailer/lib/mime-funcs';
import { isMediaType } from './clean-text.js';
import { readTnef, type TnefFile } from './tnef.js';

/** A longer stream, in bytes, stays one attachment. */
const MAX_LENGTH = 33_554_432;
const CHUNK = 65_536;

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
  for (const file of found?.files ?? []) yield toAttachment(file);
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

function toAttachment({ filename, contentType, content }: TnefFile): AttachmentStream {
  const type = isMediaType(contentType) ? contentType : detectMimeType(filename);
  const headers: Headers = new Map();
  headers.set('content-type', { value: type, params: {} });
  headers.set('content-transfer-encoding', 'base64');
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for (let at = 0; at < content.length; at += CHUNK) {
      const chunk = content.subarray(at, at + CHUNK);
      hash.update(chunk);
      yield chunk;
    }
    attachment.checksum = hash.digest('hex');
  }
  const attachment = {
    type: 'attachment',
    content: Readable.from(hashed()),
    contentType: type,
    contentDisposition: 'attachment',
    filename,
    headers,
    checksum: '',
    related: false,
    release: () => undefined,
  } as unknown as AttachmentStream;
  FROM_TNEF.add(attachment);
  return attachment;
}
