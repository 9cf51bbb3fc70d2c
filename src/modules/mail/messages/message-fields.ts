import { type Fields, isFields, pick } from '../input/fields.js';
import { mailAddress, percentDecoded } from '../../../lib/text/index.js';

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
