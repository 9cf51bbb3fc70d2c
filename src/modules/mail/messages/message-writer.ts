import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { toContentIdLinks } from '../../../lib/html/index.js';
import { mailAddress, percentDecoded } from '../../../lib/text/index.js';
import { type Fields, isFields, isObjectId, objectsOf, pick } from '../input/fields.js';
import { messagePath, messagesPath } from '../mail-call.js';
import type { MailSession } from '../mail-client.js';
import { isUnknownField, JsonResponse } from '../upstream-response.js';

/** Forwarded unchanged. Other fields (raw sources, headers, remote images) are dropped: see adr/0015. */
const PLAIN = ['subject', 'text', 'html', 'draft', 'unseen', 'flagged', 'files'] as const;
const ADDRESSES = ['from', 'replyTo', 'to', 'cc', 'bcc'] as const;

/** WildDuck's names of an attachment's members, each with the spellings accepted here. */
const ATTACHMENT: Record<string, readonly string[]> = {
  filename: ['filename', 'fileName', 'file_name', 'name'],
  contentType: ['contentType', 'content_type', 'mimeType', 'mime_type', 'mime', 'type'],
  content: ['content', 'data'],
  cid: ['cid', 'contentId', 'content_id', 'contentID'],
  contentDisposition: ['contentDisposition', 'content_disposition', 'disposition'],
};

/** `data:<type>[;<parameter>...][;base64],<data>` (RFC 2397). */
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** Translates the contract's fields of a new message (section 2.8) into WildDuck's. */
export function messageFields(body: Fields): Fields {
  const fields = pick(body, PLAIN);
  for (const name of ADDRESSES) if (Object.hasOwn(body, name)) fields[name] = address(body[name]);
  if (Object.hasOwn(body, 'attachments')) fields['attachments'] = each(body['attachments'], attachment);
  if (Object.hasOwn(body, 'reference')) fields['reference'] = reference(body['reference']);
  if (Object.hasOwn(body, 'replacePrevious')) {
    const previous = body['replacePrevious'];
    fields['replacePrevious'] = isFields(previous) ? pick(previous, ['mailbox', 'id']) : previous;
  }
  return fields;
}

/** Values of another type stay unchanged, for the mail service to reject. */
const each = (value: unknown, change: (item: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map((item) => change(item)) : change(value);

const address = (value: unknown): unknown =>
  each(value, (item) => {
    if (!isFields(item)) return item;
    const fields = pick(item, ['name', 'address']);
    const { address: written } = fields;
    return typeof written === 'string' ? { ...fields, address: mailAddress(written) } : fields;
  });

function attachment(value: unknown): unknown {
  if (!isFields(value)) return value;
  if (Object.hasOwn(value, 'keep')) return { keep: value['keep'] };
  const fields: Fields = {};
  for (const [name, spellings] of Object.entries(ATTACHMENT)) {
    const spelling = spellings.find((each) => Object.hasOwn(value, each));
    if (spelling !== undefined) fields[name] = value[spelling];
  }
  return typeof fields['content'] === 'string' ? withoutDataUrl(fields, fields['content']) : fields;
}

/** Browsers read files as `data:` URLs; the prefix would corrupt the stored attachment. */
function withoutDataUrl(fields: Fields, content: string): Fields {
  // The content may have megabytes: match its beginning only.
  const match = DATA_URL.exec(content.slice(0, 512));
  if (!match) return fields;
  const [prefix, type, , base64] = match;
  const data = content.slice(prefix.length);
  return {
    ...(type !== undefined && { contentType: type }),
    ...fields,
    content: base64 === undefined ? Buffer.from(percentDecoded(data)).toString('base64') : data,
  };
}

const REPLY_ALL = /^reply[-_ ]?all$/i;

function reference(value: unknown): unknown {
  if (!isFields(value)) return value;
  const fields = pick(value, ['mailbox', 'id', 'action', 'attachments']);
  if (typeof fields['action'] === 'string' && REPLY_ALL.test(fields['action'])) fields['action'] = 'replyAll';
  return fields;
}

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
  const value = await previous.readWhole();
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
