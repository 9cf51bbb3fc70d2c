import { type Fields, isFields, pick } from '../fields.js';
import { truth } from './words.js';

/** Passed as they are. What is not among them (raw sources, headers, remote images to fetch) never leaves. */
const PLAIN = ['subject', 'text', 'html', 'draft', 'unseen', 'flagged', 'files'] as const;
const ADDRESSES = ['from', 'replyTo', 'to', 'cc', 'bcc'] as const;

/** The contract's words for an attachment's members, and the usual spellings of them. */
const ATTACHMENT: Record<string, readonly string[]> = {
  filename: ['filename', 'fileName', 'file_name', 'name'],
  contentType: ['contentType', 'content_type', 'mimeType', 'mime_type', 'mime', 'type'],
  content: ['content', 'data'],
  cid: ['cid', 'contentId', 'content_id', 'contentID'],
  contentDisposition: ['contentDisposition', 'content_disposition', 'disposition'],
};

/** `data:<type>[;<parameter>...][;base64],<data>` (RFC 2397). */
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** A message to be created: the contract's structured fields, in WildDuck's words. */
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

/** What is no array or object stays as it is, for the mail service to refuse. */
const each = (value: unknown, change: (item: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map((item) => change(item)) : change(value);

const address = (value: unknown): unknown =>
  each(value, (item) => (isFields(item) ? pick(item, ['name', 'address']) : item));

function attachment(value: unknown): unknown {
  if (!isFields(value)) return value;
  const fields: Fields = {};
  for (const [name, spellings] of Object.entries(ATTACHMENT)) {
    const spelling = spellings.find((each) => Object.hasOwn(value, each));
    if (spelling !== undefined) fields[name] = value[spelling];
  }
  return typeof fields['content'] === 'string' ? withoutDataUrl(fields, fields['content']) : fields;
}

/** Browsers read files as `data:` URLs; stored with its prefix, an attachment would be broken. */
function withoutDataUrl(fields: Fields, content: string): Fields {
  // The expression looks at the beginning only: the content has megabytes.
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

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const REPLY_ALL = /^reply[-_ ]?all$/i;

function reference(value: unknown): unknown {
  if (!isFields(value)) return value;
  const fields = pick(value, ['mailbox', 'id', 'action', 'attachments']);
  if (typeof fields['action'] === 'string' && REPLY_ALL.test(fields['action'])) fields['action'] = 'replyAll';
  return fields;
}

/** What of an existing message may be changed. Not `draft`: it would turn a stored message into one to be sent. */
const FLAGS = ['seen', 'flagged', 'deleted'] as const;

/**
 * A change of one message, as the calls it takes: WildDuck cannot set one flag and clear another in one update, and a
 * move gives the message a new id, so it comes last.
 */
export function messageChanges(body: Fields): Fields[] {
  const fields = pick(body, [...FLAGS, 'moveTo']);
  if (Object.hasOwn(body, 'unseen') && !Object.hasOwn(fields, 'seen')) {
    const unseen = truth(body['unseen']);
    if (unseen === undefined) fields['unseen'] = body['unseen'];
    else fields['seen'] = !unseen;
  }
  const cleared = FLAGS.filter((flag) => truth(fields[flag]) === false);
  const rest = Object.keys(fields).filter((name) => !cleared.includes(name as never));
  if (cleared.length === 0 || rest.length === 0) return [fields];
  return [pick(fields, cleared), pick(fields, rest)];
}

/** What may be said when a message is submitted. */
export const submitFields = (body: Fields): Fields => pick(body, ['deleteFiles', 'sendTime']);
