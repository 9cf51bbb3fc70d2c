import type { Readable } from 'node:stream';
import {
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  MailParser,
  type MessageText,
} from 'mailparser';
import { passedOn } from '../../platform/memory/garbage.js';
import { isMediaType, shortName } from './clean-text.js';
import type { AttachmentInfo } from './message.js';

const MAX_ATTACHMENTS = 1_000;
/** Characters of HTML that are looked at. */
const MAX_HTML = 1_048_576;
const LINE = 76;
/** What the parser leaves behind of each byte. */
const GARBAGE = 3;
/** Characters of what a sender says of an attachment. A header may have a megabyte, and lists show all of it. */
const MAX_TYPE = 255;
const MAX_CID = 300;
const MAX_ENCODING = 40;

/** mailparser without what it does for showing a message: images stay links. */
const OPTIONS = { skipImageLinks: true, maxHtmlLengthToParse: MAX_HTML, checksumAlgo: 'sha256' };

/** What it says of HTML that it cannot turn into text, and then leaves out of the message altogether. */
const NO_TEXT = /^(?:HTML too long for parsing|Failed to parse HTML)/;

/** The part of mailparser that puts the texts of a message together; its types do not have it. */
interface TextMaker {
  options: { skipHtmlToText?: boolean };
  getTextContent(): MessageText;
}

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
  let unread = false;
  let count = 0;
  const works: Promise<void>[] = [];
  const ended = Promise.withResolvers<void>();
  parser.on('headers', (value) => (headers = value));
  parser.on('headerLines', (value) => (lines = value));
  parser.on('data', (data) => {
    if (data.type === 'text') {
      text = unread ? withoutReading(parser) : data;
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
  parser.on('error', (error: Error) => {
    if (NO_TEXT.test(error.message)) unread = true;
    else ended.reject(error);
  });
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

/** The texts of a message once more, its HTML as it is: much of a message is no reason to refuse it. */
function withoutReading(parser: MailParser): MessageText {
  const maker = parser as unknown as TextMaker;
  maker.options.skipHtmlToText = true;
  return maker.getTextContent();
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
  const transferEncoding =
    typeof encoding === 'string' ? encoding.slice(0, MAX_ENCODING).toLowerCase() : '7bit';
  return {
    hash: checksum,
    id,
    filename: shortName(attachment.filename || `attachment-${Number(id.slice(3))}`),
    contentType: declaredType(attachment),
    disposition: attachment.contentDisposition === 'inline' ? 'inline' : 'attachment',
    transferEncoding,
    cid: attachment.contentId?.slice(0, MAX_CID) ?? null,
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
  const type = typeof value === 'string' && value !== '' ? value : contentType;
  return type && type.length <= MAX_TYPE && isMediaType(type) ? type : 'application/octet-stream';
}

/** Of base64 in lines. */
function encodedLength(bytes: number): number {
  const characters = Math.ceil(bytes / 3) * 4;
  return characters + 2 * Math.max(0, Math.ceil(characters / LINE) - 1);
}
