import type { Readable } from 'node:stream';
import type { AttachmentStream, HeaderLines, Headers, MessageText } from 'mailparser';
import { detectExtension } from 'nodemailer/lib/mime-funcs';
import { countForwardedBytes } from '../../platform/memory/garbage.js';
import { attachmentName, isMediaType } from './clean-text.js';
import { ContentTypeCorrector } from './correction/content-types.js';
import { attachmentOf } from './embedded/embedded-file.js';
import { isTnef, type TnefContent } from './embedded/tnef.js';
import { TnefStreams } from './embedded/tnef-streams.js';
import type { AttachmentInfo } from './message.js';
import { MessageParser } from './message-parser.js';

const MAX_ATTACHMENTS = 1_000;
const LINE = 76;
/** Bytes of garbage that the parser creates per byte. */
const GARBAGE = 3;
/** Limits of the declared attachment fields, characters: a header may have a megabyte. */
const MAX_TYPE = 255;
const MAX_CID = 300;
const MAX_LOCATION = 2_048;
const MAX_ENCODING = 40;

/**
 * Links to images stay unchanged; an embedded message and the status of a bounce (RFC 3464) are attachments, as in WildDuck, and not part
 * of the text.
 */
const OPTIONS = {
  skipImageLinks: true,
  ignoreEmbedded: true,
  checksumAlgo: 'sha256',
};

/** Called for each attachment; must read the content to its end. */
type OnAttachment = (attachment: AttachmentStream, id: string) => Promise<void>;

/**
 * Parses a message from a stream.
 * @param options.withTexts false: only the attachments are wanted
 * @param options.withStatus false: the status of a bounce is text
 * @throws Error for too many parts or headers that are too long
 */
export async function walk(
  source: Readable,
  onAttachment: OnAttachment,
  { withTexts = true, withStatus = true } = {},
): Promise<{
  headers: Headers;
  lines: HeaderLines;
  text: MessageText | undefined;
  base: string | undefined;
  /** The texts within TNEF. */
  tnef: Pick<TnefContent, 'text' | 'html'> | undefined;
}> {
  const parser = new MessageParser({ ...OPTIONS, keepDeliveryStatus: withStatus }, withTexts);
  let headers: Headers = new Map();
  let lines: HeaderLines = [];
  let text: MessageText | undefined;
  let tnef: TnefContent | undefined;
  let count = 0;
  const works: Promise<void>[] = [];
  const tnefs = new TnefStreams();
  const ended = Promise.withResolvers<void>();
  parser.on('headers', (value) => (headers = value));
  parser.on('headerLines', (value) => (lines = value));
  parser.on('data', (data) => {
    if (data.type === 'text') {
      text = data;
      return;
    }
    if (isTnef(data)) data.content = tnefs.follow(data.content as Readable);
    const work = take(data);
    works.push(work);
    work.then(() => data.release(), ended.reject);
  });
  const take = (attachment: AttachmentStream): Promise<void> => {
    count += 1;
    return count > MAX_ATTACHMENTS
      ? Promise.reject(new Error('too many attachments'))
      : onAttachment(attachment, `ATT${String(count).padStart(5, '0')}`);
  };
  parser.once('end', () => ended.resolve());
  parser.on('error', ended.reject);
  source.on('data', (chunk: Buffer) => countForwardedBytes(chunk.length * GARBAGE));
  source
    .once('error', ended.reject)
    .pipe(new ContentTypeCorrector())
    .once('error', ended.reject)
    .pipe(parser);
  try {
    await ended.promise;
    // The parser does not wait for the last attachment.
    await Promise.all(works);
    const contents = tnefs.contents();
    // They come after the parts of the message, whose ids do not depend on them.
    for (const file of [
      ...parser.files,
      ...contents.flatMap(({ files }) => files),
      ...parser.longTexts,
    ].slice(0, MAX_ATTACHMENTS - count))
      await take(attachmentOf(file));
    tnef = contents[0];
  } finally {
    parser.destroy();
    source.destroy();
  }
  return { headers, lines, text, base: parser.base ?? locationOf(headers), tnef };
}

/** The address of a part (RFC 2557), which links name. */
export function locationOf(headers: Headers): string | undefined {
  const value = headers.get('content-location');
  // Long addresses are folded.
  return typeof value === 'string' && value.length <= MAX_LOCATION ? value.replace(/\s+/g, '') : undefined;
}

/** Parameters that belong to the message with the attachment, not to its content: the name is a field of its own. */
const PLACED = new Set(['name', 'boundary']);

/** The media type of an attachment with its parameters, such as `charset` and the `method` of a calendar, for a copy. */
export function typeWithParameters({ headers }: AttachmentStream, type: string): string {
  const { params = {} } = (headers.get('content-type') ?? {}) as { params?: Record<string, unknown> };
  const kept = Object.entries(params).filter(
    (entry): entry is [string, string] =>
      !PLACED.has(entry[0]) && /^[\w-]{1,40}$/.test(entry[0]) && /^[\w.:+/ -]{1,100}$/.test(String(entry[1])),
  );
  return [type, ...kept.slice(0, 20).map(([name, value]) => `${name}="${value}"`)].join('; ');
}

/** Describes an attachment. @param read must read the content to its end */
export async function describe(
  attachment: AttachmentStream,
  id: string,
  read: (content: AsyncIterable<Buffer>) => Promise<void> = discard,
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
  const contentType = declaredType(attachment);
  const encoding = attachment.headers.get('content-transfer-encoding');
  const transferEncoding =
    typeof encoding === 'string' ? encoding.slice(0, MAX_ENCODING).toLowerCase() : '7bit';
  return {
    hash: checksum,
    id,
    filename:
      attachmentName(attachment.filename || '') ||
      `attachment-${Number(id.slice(3))}.${extensionOf(contentType)}`,
    contentType,
    disposition: attachment.contentDisposition === 'inline' ? 'inline' : 'attachment',
    transferEncoding,
    cid: attachment.contentId?.slice(0, MAX_CID) ?? null,
    related: attachment.related === true,
    sizeKb: Math.ceil(bytes / 1024),
    size: transferEncoding === 'base64' ? encodedLength(bytes) : bytes,
    decodedSize: bytes,
    fileContentHash: Buffer.from(checksum, 'hex').toString('base64'),
  };
}

/** The library has no extension for bytes of an unknown type, and not for the reports and messages of several RFCs, which are texts. */
function extensionOf(contentType: string): string {
  const extension = detectExtension(contentType).replace('*', 'bin');
  if (extension !== 'bin' || !contentType.startsWith('message/')) return extension;
  return /^message\/(?:global|news|partial)$/.test(contentType) ? 'eml' : 'txt';
}

async function discard(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** The declared media type; the parser would guess from the file name. */
function declaredType({ headers, contentType }: AttachmentStream): string {
  const { value } = (headers.get('content-type') ?? {}) as { value?: unknown };
  const type = typeof value === 'string' && value !== '' ? value : contentType;
  return type && type.length <= MAX_TYPE && isMediaType(type)
    ? type.toLowerCase()
    : 'application/octet-stream';
}

/** Length of base64 with line breaks. */
function encodedLength(bytes: number): number {
  const characters = Math.ceil(bytes / 3) * 4;
  return characters + 2 * Math.max(0, Math.ceil(characters / LINE) - 1);
}
