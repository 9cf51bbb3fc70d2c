import type { Readable } from 'node:stream';
import {
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  MailParser,
  type MessageText,
} from 'mailparser';
import { passedOn } from '../../platform/memory/garbage.js';
import type { AttachmentInfo } from './message.js';

const MAX_ATTACHMENTS = 1_000;
/** Characters of HTML that are looked at. */
const MAX_HTML = 1_048_576;
const LINE = 76;
/** What the parser leaves behind of each byte. */
const GARBAGE = 3;

/** mailparser without what it does for showing a message: images stay links. */
const OPTIONS = { skipImageLinks: true, maxHtmlLengthToParse: MAX_HTML, checksumAlgo: 'sha256' };

/** Called for each attachment; the content has to be read to its end. */
type OnAttachment = (attachment: AttachmentStream, id: string) => Promise<void>;

/**
 * Reads a message as it comes.
 * @throws whatever the parser says about a message that it cannot read: too many parts, endless headers
 */
export async function walk(
  source: Readable,
  onAttachment: OnAttachment,
): Promise<{ headers: Headers; lines: HeaderLines; text: MessageText | undefined }> {
  const parser = new MailParser(OPTIONS);
  let headers: Headers = new Map();
  let lines: HeaderLines = [];
  let text: MessageText | undefined;
  let count = 0;
  const works: Promise<void>[] = [];
  const ended = Promise.withResolvers<void>();
  parser.on('headers', (value) => (headers = value));
  parser.on('headerLines', (value) => (lines = value));
  parser.on('data', (data) => {
    if (data.type === 'text') {
      text = data;
      return;
    }
    count += 1;
    const id = `ATT${String(count).padStart(5, '0')}`;
    const work =
      count > MAX_ATTACHMENTS ? Promise.reject(new Error('too many attachments')) : onAttachment(data, id);
    works.push(work);
    work.then(() => data.release(), ended.reject);
  });
  parser.once('end', () => ended.resolve());
  parser.once('error', ended.reject);
  source.on('data', (chunk: Buffer) => passedOn(chunk.length * GARBAGE));
  source.once('error', ended.reject).pipe(parser);
  try {
    await ended.promise;
    // The parser does not wait for the last one to be read when nothing follows it.
    await Promise.all(works);
  } finally {
    parser.destroy();
    source.destroy();
  }
  return { headers, lines, text };
}

/** What is listed of an attachment. @param read has to read the content to its end */
export async function describe(
  attachment: AttachmentStream,
  id: string,
  read: (content: AsyncIterable<Buffer>) => Promise<void> = drop,
): Promise<AttachmentInfo> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of attachment.content as Readable as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  await read(counted());
  const { checksum } = attachment;
  const encoding = attachment.headers.get('content-transfer-encoding');
  const transferEncoding = typeof encoding === 'string' ? encoding.toLowerCase() : '7bit';
  return {
    hash: checksum,
    id,
    filename: attachment.filename || `attachment-${Number(id.slice(3))}`,
    contentType: declaredType(attachment),
    disposition: attachment.contentDisposition === 'inline' ? 'inline' : 'attachment',
    transferEncoding,
    cid: attachment.contentId ?? null,
    related: attachment.related === true,
    sizeKb: Math.ceil(bytes / 1024),
    size: transferEncoding === 'base64' ? encodedLength(bytes) : bytes,
    fileContentHash: Buffer.from(checksum, 'hex').toString('base64'),
  };
}

async function drop(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** What the sender says it is, where the parser would guess from the name. */
function declaredType({ headers, contentType }: AttachmentStream): string {
  const { value } = (headers.get('content-type') ?? {}) as { value?: unknown };
  return typeof value === 'string' && value !== '' ? value : contentType || 'application/octet-stream';
}

/** Of base64 in lines. */
function encodedLength(bytes: number): number {
  const characters = Math.ceil(bytes / 3) * 4;
  return characters + 2 * Math.max(0, Math.ceil(characters / LINE) - 1);
}
