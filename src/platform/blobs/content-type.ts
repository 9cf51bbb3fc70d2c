import { fileTypeFromBuffer } from 'file-type';

/** Bytes of the beginning that tell what a file is. */
export const SNIFF_BYTES = 4_100;

const UNKNOWN = 'application/octet-stream';

/** Formats a browser would run or draw with scripts, should it ever be shown one. */
const ACTIVE =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|(?:text|application)\/(?:xml|javascript)|application\/x-(?:ms-shortcut|mswinurl))/;

/** What a client may call a text; nothing does more with these than show them. */
const PLAIN_TEXT = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/calendar', 'application/json']);

/**
 * The type of a file, by its content. What the client said counts only for text, which has no marks of its own, and only
 * among kinds of text that are harmless; everything else that is not recognised is bytes.
 *
 * @param head the first `SNIFF_BYTES`, or the whole file when it is shorter
 * @param declared as sent by the client; anything
 */
export async function contentTypeOf(head: Buffer, declared: string): Promise<string> {
  const found = await sniffed(head);
  if (found !== undefined) return ACTIVE.test(found) ? UNKNOWN : found;
  const claimed = declared.split(';', 1)[0]!.trim().toLowerCase();
  return PLAIN_TEXT.has(claimed) && isText(head) ? claimed : UNKNOWN;
}

async function sniffed(head: Buffer): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(head))?.mime;
  } catch {
    // A damaged file is not of any type.
    return undefined;
  }
}

/** UTF-8 without control characters other than white space; the last character may be cut. */
function isText(head: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return !/\p{Cc}/u.test(text.replace(/\s+/g, ''));
  } catch {
    return false;
  }
}
