import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AttachmentStream } from 'mailparser';
import { detectMimeType } from 'nodemailer/lib/mime-funcs';

/** A file that is no part of its message, but within one. */
export interface EmbeddedFile {
  name: string;
  /** Null: by the name. */
  contentType: string | null;
  charset?: string;
  read: () => Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** The file in the form in which the parser announces attachments. */
export function attachmentOf({ name, contentType, charset, read }: EmbeddedFile): AttachmentStream {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of read()) {
      hash.update(chunk);
      yield chunk;
    }
    attachment.checksum = hash.digest('hex');
  }
  const attachment = {
    type: 'attachment',
    filename: name,
    contentType: contentType ?? detectMimeType(name),
    contentDisposition: 'attachment',
    headers: new Map(charset ? [['content-type', { value: contentType, params: { charset } }]] : []),
    related: false,
    checksum: '',
    content: Readable.from(hashed()),
    release: () => undefined,
  };
  return attachment as unknown as AttachmentStream;
}
