import { Injectable } from '@nestjs/common';
import { create as contentDisposition } from 'content-disposition';
import { asciiFileName, safeFileName } from '../../platform/http/file-name.js';
import { StreamReply } from '../../platform/http/stream-reply.js';
import type { MailCall } from './mail-call.js';
import { MailClient, type MailReply, passedOn } from './mail-client.js';
import type { ReadAttachment } from './mail.dto.js';
import { messagePath } from './mail-paths.js';
import { JsonAnswer } from './upstream/mail-answer.js';

const OTHERWISE = 'attachment';
const OPAQUE = 'application/octet-stream';

/** Types that a browser runs or renders as a page: such an attachment is bytes to us, whatever its sender called it. */
const ACTIVE = /html|xml|svg|script|flash|xsl|wasm|mhtml|multipart|message/i;

/** Attachments as downloads. */
@Injectable()
export class MailAttachmentsService {
  constructor(private readonly client: MailClient) {}

  /** The bytes as they come; the mail service's own answer where it refuses. */
  read(
    call: MailCall,
    { mailbox_id, message_id, attachment_id, filename }: ReadAttachment,
  ): Promise<MailReply> {
    const message = messagePath({ mailbox: mailbox_id.toLowerCase(), message: Number(message_id) });
    const path = [...message, 'attachments', attachment_id.toUpperCase()];
    return this.client.as(call, async (session) => {
      const answer = await session.bytes({ method: 'GET', path, accept: '*/*' });
      if (answer instanceof JsonAnswer) return passedOn(answer);
      const { headers, body } = answer;
      const length = headers['content-length'];
      return new StreamReply(body.stream(), {
        status: 200,
        contentType: safeType(headers['content-type']),
        ...(length !== undefined && /^\d{1,15}$/.test(length) && { length: Number(length) }),
        headers: {
          'Content-Disposition': disposition(filename),
          'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        },
      });
    });
  }
}

/** A media type without its parameters, if it is one and harmless. */
function safeType(declared: string | undefined): string {
  const type = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/.test(type) && !ACTIVE.test(type) ? type : OPAQUE;
}

/** RFC 6266: always to keep, never to show. */
function disposition(filename: string): string {
  const name = safeFileName(filename, '', OTHERWISE);
  return contentDisposition(name, { fallback: asciiFileName(name, OTHERWISE) });
}
