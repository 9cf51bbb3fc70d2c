import { Injectable } from '@nestjs/common';
import { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { safeFileName } from '../../../../platform/http/replies/file-name.js';
import { attachmentNamed } from '../../../../platform/http/replies/file-reply.js';
import { type MailCall, messagePath } from '../../mail-call.js';
import { forwarded, MailClient, type MailReply, type MailSession } from '../../mail-client.js';
import { JsonResponse } from '../../upstream-response.js';
import type { ReadAttachment } from './drafts.dto.js';

const DEFAULT_NAME = 'attachment';
const DEFAULT_TYPE = 'application/octet-stream';

/**
 * Media types that a browser executes or renders as a page are replaced by the default type. XML types are `text/xml`,
 * `application/xml` and `…+xml`: `vnd.openxmlformats-officedocument…` is a document.
 */
const ACTIVE = /(?:^|[/+.-])(?:x?html?|xml|svg|mhtml|xslt?)(?![a-z])|script|flash|wasm|multipart|message/i;

/** Downloads of attachments. */
@Injectable()
export class AttachmentsService {
  constructor(private readonly client: MailClient) {}

  read(
    call: MailCall,
    { mailbox_id, message_id, attachment_id, filename }: ReadAttachment,
  ): Promise<MailReply> {
    const message = messagePath({ mailbox: mailbox_id.toLowerCase(), message: Number(message_id) });
    const path = [...message, 'attachments', attachment_id.toUpperCase()];
    const download = async (session: MailSession): Promise<MailReply> => {
      const response = await session.bytes({ method: 'GET', path, accept: '*/*' });
      if (response instanceof JsonResponse) return forwarded(response);
      const { headers, body } = response;
      const name = safeFileName(filename, '', DEFAULT_NAME);
      const length = headers['content-length'];
      return new BodyReply(body.stream(), {
        status: 200,
        contentType: safeType(headers['content-type']),
        ...(length !== undefined && /^\d{1,15}$/.test(length) && { length: Number(length) }),
        headers: {
          'Content-Disposition': attachmentNamed(name, DEFAULT_NAME),
          'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        },
      });
    };
    return this.client.as(call, download, 'downloads');
  }
}

/** The declared media type without parameters when it is valid and harmless. */
function safeType(declared: string | undefined): string {
  const type = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/.test(type) && !ACTIVE.test(type)
    ? type
    : DEFAULT_TYPE;
}
