import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { AttachmentStream } from 'mailparser';
import { type Bytes, gather, SpoolFile, streamOf } from '../storage/bytes.js';
import type { AttachmentInfo } from './message.js';
import { describe, typeWithParameters, walk } from './walk.js';

/** Copied attachments up to this size, bytes, stay in memory. */
const SHORT = 65_536;

/**
 * Whether the status of a bounce is among the attachments of a stored message. It was a part of the text of those that version 0.1 stored;
 * the ids of their attachments do not count it. That of an international address (RFC 6533) was an attachment always.
 */
export const hasStatus = (stored: readonly Pick<AttachmentInfo, 'contentType'>[]): boolean =>
  stored.some(({ contentType }) => contentType === 'message/delivery-status');

/**
 * Streams one attachment of a message and ignores the rest.
 * @param withStatus as `hasStatus` of the message
 */
export async function openAttachment(source: Readable, id: string, withStatus = true): Promise<Readable> {
  const found = Promise.withResolvers<Readable>();
  const onAttachment = async (attachment: AttachmentStream, each: string): Promise<void> => {
    const content = attachment.content as Readable;
    if (each !== id) {
      content.resume();
      await once(content, 'end');
      return;
    }
    found.resolve(content);
    // A reader that disconnects ends the walk.
    await new Promise<void>((resolve, reject) => {
      content
        .once('end', resolve)
        .once('error', reject)
        .once('close', () => reject(new Error('closed')));
    });
  };
  const walking = walk(source, onAttachment, { withTexts: false, withStatus });
  walking.then(
    () => found.reject(new Error('unknown attachment')),
    (error: unknown) => {
      found.reject(error);
      found.promise.then((content) => content.destroy(error as Error)).catch(() => undefined);
    },
  );
  return found.promise;
}

/**
 * Reads several attachments with their descriptions, and their types with parameters.
 * @param file for long contents
 * @param withStatus as `hasStatus` of the message
 */
export async function readAttachments(
  source: Readable,
  ids: readonly string[],
  file: string,
  withStatus: boolean,
): Promise<{ info: AttachmentInfo; type: string; content: Buffer | Readable }[]> {
  const spool = new SpoolFile(file);
  const taken: { info: AttachmentInfo; type: string; bytes: Bytes }[] = [];
  try {
    const onAttachment = async (attachment: AttachmentStream, id: string): Promise<void> => {
      if (!ids.includes(id)) return void (await describe(attachment, id));
      const bytes: { all?: Bytes } = {};
      const info = await describe(attachment, id, async (content) => {
        bytes.all = await gather(content, spool, SHORT);
      });
      taken.push({ info, type: typeWithParameters(attachment, info.contentType), bytes: bytes.all as Bytes });
    };
    await walk(source, onAttachment, { withTexts: false, withStatus });
  } finally {
    await spool.close();
  }
  return taken.map(({ info, type, bytes }) => ({
    info,
    type,
    content: bytes instanceof Uint8Array ? Buffer.from(bytes) : Readable.from(lazily(bytes)),
  }));
}

/** Opens the file on first read: a message may have a thousand parts. */
async function* lazily(bytes: Bytes): AsyncGenerator<Uint8Array> {
  yield* streamOf(bytes) as AsyncIterable<Buffer>;
}
