import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import MailComposer from 'nodemailer/lib/mail-composer';
import { contentIdOf, isLinked, toContentIdLinks } from '../../lib/html/index.js';
import { countForwardedBytes } from '../../platform/memory/garbage.js';
import { bufferOf, type FileBytes, sizeOf, streamOf } from '../storage/bytes.js';
import { readAttachments } from './attachments.js';
import { cleanText, isMediaType, isMessageId } from './clean-text.js';
import { encodeLookalikes, protectNames } from '../../lib/encoded-words/index.js';
import { type CopiedAttachments, INVALID_BASE64, type NewAttachment, type NewMessage } from './message.js';

const PADDING = '='.charCodeAt(0);
const ALPHABET = new Uint8Array(256);
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
  ALPHABET[letter] = 1;

/**
 * Decodes the content of an attachment. Plain base64 of a file is streamed; other encodings are read whole.
 * @throws Error INVALID_BASE64
 */
export async function contentOf(
  content: string | FileBytes,
  encoding: BufferEncoding,
): Promise<Buffer | Readable> {
  const isBase64 = /^base64(?:url)?$/i.test(encoding);
  if (typeof content !== 'string' && /^base64$/i.test(encoding) && (await isPlainBase64(content)))
    return Readable.from(decodedBytes(content));
  const text =
    typeof content === 'string'
      ? content
      : cleanText(JSON.parse(`"${(await bufferOf(content)).toString('utf8')}"`) as string);
  if (isBase64 && !isLooseBase64(text)) throw new Error(INVALID_BASE64);
  return Buffer.from(text, encoding);
}

/** True for the alphabets of RFC 4648 with line breaks, with or without padding: `Buffer` skips other characters silently. */
function isLooseBase64(text: string): boolean {
  const [, letters] = /^([\w+/-]*)={0,2}$/.exec(text.replaceAll(/\s+/g, '')) ?? [];
  return letters !== undefined && letters.length % 4 !== 1;
}

/** True for complete groups of the standard alphabet, which can be decoded independently. */
async function isPlainBase64(content: FileBytes): Promise<boolean> {
  if (sizeOf(content) % 4 !== 0) return false;
  let padding = 0;
  for await (const chunk of streamOf(content) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (ALPHABET[byte] === 1 && padding === 0) continue;
      padding += 1;
      if (byte !== PADDING || padding > 2) return false;
    }
    countForwardedBytes(chunk.length);
  }
  return true;
}

async function* decodedBytes(content: FileBytes): AsyncGenerator<Buffer> {
  let rest = '';
  for await (const chunk of streamOf(content) as AsyncIterable<Buffer>) {
    const text = rest + chunk.toString('latin1');
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    yield Buffer.from(text.slice(0, whole), 'base64');
    countForwardedBytes(chunk.length);
  }
}

/** An image in HTML as a `data:` URL. */
const DATA_IMAGE =
  /(<img\b[^>]{0,1024}?\bsrc\s*=\s*["']?)data:(image\/[\w.+-]{1,64});base64,([A-Za-z0-9+/=\s]+)/gi;

/** Content ids that a URL contains unchanged. */
const PLAIN_ID = /^[\w.!$*+=~@-]+$/;

type Copied = Awaited<ReturnType<typeof readAttachments>>[number];

interface Part {
  filename?: string | false;
  contentType?: string;
  content: Buffer | Readable;
  cid?: string;
  contentDisposition?: 'inline' | 'attachment';
}

/**
 * Builds the MIME of a message, including Bcc, which `outgoing` removes.
 * @param copied attachments of other messages; the file is for long contents
 * @throws Error `Unknown encoding: …` of an attachment
 */
export async function composeMessage(
  message: NewMessage,
  copied: readonly (CopiedAttachments & { file: string })[] = [],
): Promise<Readable> {
  const images: Part[] = [];
  const read = (await Promise.all(copied.map(copiedAttachments))).flat();
  const others = withContentIds(read, message);
  const linked =
    message.html &&
    toContentIdLinks(
      message.html,
      others.map(({ info }) => info),
    );
  const html = linked?.replace(DATA_IMAGE, (_, before: string, contentType: string, data: string) => {
    const cid = `image-${images.length + 1}-${Date.now().toString(36)}@inline`;
    images.push({
      contentType,
      content: Buffer.from(data, 'base64'),
      cid,
      contentDisposition: 'inline',
      filename: `image-${images.length + 1}.${contentType.slice(6).replace(/[^a-z0-9]/gi, '')}`,
    });
    return `${before}cid:${cid}`;
  });
  const { inReplyTo, references, headers, from, replyTo, to, cc, bcc, subject, text, date } = message;
  const composer = new MailComposer({
    from,
    ...(replyTo && { replyTo }),
    to,
    cc,
    bcc,
    subject: encodeLookalikes(subject),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    ...(date && { date }),
    ...(inReplyTo && isMessageId(inReplyTo) && { inReplyTo }),
    ...(references.length > 0 && { references: references.filter(isMessageId) }),
    headers: headers.map(({ key, value }) => ({ key, value })),
    attachments: [
      ...images,
      ...(await Promise.all(message.attachments.map(partOf))),
      ...others.map(copiedPart),
    ],
    // The message is stored as it is; a server that sends it would convert lone LF.
    newline: 'win',
    // Clients must not read local files or URLs through nodemailer.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const node = composer.compile();
  node.keepBcc = true;
  protectNames(node);
  return node.createReadStream();
}

/** A file is sent in base64, in which no multipart may be (RFC 2045 6.4): programs would look for the parts of one that is a file. */
const typeOfFile = (type: string): string =>
  isMediaType(type) && !/^multipart\//i.test(type) ? type : 'application/octet-stream';

async function partOf({ content, encoding, contentType, cid, ...rest }: NewAttachment): Promise<Part> {
  if (!Buffer.isEncoding(encoding)) throw new Error(`Unknown encoding: ${encoding}`);
  const id = cid?.replace(/[^\x21-\x7e]|[<>]/g, '');
  return {
    ...rest,
    ...(contentType !== undefined && { contentType: typeOfFile(contentType) }),
    ...(id && { cid: id }),
    // nodemailer's default for messages is inline.
    contentDisposition:
      rest.contentDisposition ?? (/^message\//i.test(contentType ?? '') ? 'attachment' : undefined),
    content: await bufferedMessage(await contentOf(content, encoding), contentType),
  };
}

/** Buffers an attached message: nodemailer reads the whole content to decide whether it can be sent as 7-bit text. */
async function bufferedMessage(content: Buffer | Readable, contentType = ''): Promise<Buffer | Readable> {
  return Buffer.isBuffer(content) || !/^message\//i.test(contentType) ? content : buffer(content);
}

const copiedAttachments = ({ raw, ids, withStatus, file }: CopiedAttachments & { file: string }) =>
  readAttachments(streamOf(raw), ids, file, withStatus);

/**
 * Gives each linked attachment a content id that no other part has, and removes the others: mail programs hide a file with a
 * content id beside HTML that does not show it.
 */
function withContentIds(copied: readonly Copied[], { html = '', attachments }: NewMessage): Copied[] {
  const taken = new Set(attachments.map((attachment) => contentIdOf(attachment)));
  return copied.map(({ info, type, content }, n) => {
    const own = contentIdOf(info);
    const cid = !isLinked(html, info)
      ? null
      : own && !taken.has(own) && PLAIN_ID.test(own)
        ? own
        : `copy-${n + 1}-${Date.now().toString(36)}@copied`;
    taken.add(cid ?? undefined);
    return { info: { ...info, cid }, type, content };
  });
}

const copiedPart = ({ info, type, content }: Copied): Part => ({
  filename: info.filename,
  contentType: typeOfFile(type),
  content,
  contentDisposition: info.disposition,
  ...(info.cid && { cid: info.cid }),
});
