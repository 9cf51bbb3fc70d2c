import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AttachmentStream, Headers } from 'mailparser';
import { detectMimeType } from 'nodemailer/lib/mime-funcs';
import { isMediaType } from './clean-text.js';

const CHUNK = 65_536;

/** An attachment of a file that is no part of the message, but is within one. @param contentType default: by the name */
export function toAttachment({
  filename,
  contentType = '',
  content,
}: {
  filename: string;
  contentType?: string;
  content: Buffer;
}): AttachmentStream {
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
  return attachment;
}
