import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { toContentIdLinks } from '../../../lib/html/index.js';
import { type Fields, isFields, isObjectId, objectsOf } from '../input/fields.js';
import { messagePath, messagesPath } from '../mail-call.js';
import type { MailSession } from '../mail-client.js';
import { isUnknownField, JsonResponse } from '../upstream-response.js';

/** Creates messages. `{ keep }` attachments are translated for mail services that do not know them. */
@Injectable()
export class MessageWriter {
  /** Set by the first rejection: WildDuck has no `keep`. */
  private translatesKeep = false;

  /** @param fields as `messageFields` returns them */
  async create(session: MailSession, mailbox: string, fields: Fields): Promise<JsonResponse> {
    const path = messagesPath(mailbox);
    const attachments = fields['attachments'];
    const keeps = Array.isArray(attachments) && attachments.some((each) => isFields(each) && 'keep' in each);
    if (!keeps || !this.translatesKeep) {
      const response = await session.json({ method: 'POST', path, body: fields });
      if (!keeps || !isUnknownField(response, 'keep')) return response;
      this.translatesKeep = true;
    }
    const copied = await copyKept(session, mailbox, fields, attachments as unknown[]);
    if (copied instanceof JsonResponse) return copied;
    return session.json({ method: 'POST', path, body: { ...fields, ...copied } });
  }
}

/**
 * Replaces `{ keep }` by the content of the previous draft's attachment.
 * @returns the attachments and the HTML with links to them, or the error response to one of the reads
 */
async function copyKept(
  session: MailSession,
  mailbox: string,
  { replacePrevious, html }: Fields,
  attachments: readonly unknown[],
): Promise<Fields | JsonResponse> {
  const { mailbox: other, id } = isFields(replacePrevious) ? replacePrevious : {};
  const message = Number(id);
  if (!Number.isSafeInteger(message) || message < 1) return { attachments };
  const path = messagePath({ mailbox: isObjectId(other) ? other : mailbox, message });
  const previous = await session.json({ method: 'GET', path });
  if (previous.status >= 300) return previous;
  const value = await previous.whole();
  const listed = isFields(value) ? objectsOf(value['attachments']) : [];
  const copied: unknown[] = [];
  for (const attachment of attachments) {
    const keep = isFields(attachment) ? attachment['keep'] : undefined;
    if (typeof keep !== 'string' || !/^ATT\d{1,12}$/i.test(keep)) {
      copied.push(attachment);
      continue;
    }
    const name = keep.toUpperCase();
    const file = await session.bytes({ method: 'GET', path: [...path, 'attachments', name], accept: '*/*' });
    if (file instanceof JsonResponse) return file;
    const source = listed.find(({ id }) => id === name);
    const content = (await buffer(file.body.stream())).toString('base64');
    copied.push({ ...described(source), content });
  }
  return { attachments: copied, ...(typeof html === 'string' && { html: toContentIdLinks(html, listed) }) };
}

/** Translates the members of a listed attachment into those of a new attachment. */
function described(listed: Fields | undefined): Fields {
  if (!listed) return {};
  const { filename, contentType, disposition, cid } = listed;
  return {
    ...(filename !== undefined && { filename }),
    ...(contentType !== undefined && { contentType }),
    ...((disposition === 'inline' || disposition === 'attachment') && { contentDisposition: disposition }),
    ...(typeof cid === 'string' && { cid: cid.replace(/^<|>$/g, '') }),
  };
}
