import { fileTypeFromBuffer } from 'file-type';

/** Number of first bytes that the detection needs. */
export const SNIFF_BYTES = 4_100;

const UNKNOWN = 'application/octet-stream';

/** Formats in which browsers execute scripts. */
const ACTIVE =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|(?:text|application)\/(?:xml|javascript)|application\/x-(?:ms-shortcut|mswinurl))/;

/** Text types that a client may declare. Programs only display them. */
const PLAIN_TEXT = new Set(['text/plain', 'text/csv', 'text/markdown', 'text/calendar', 'application/json']);

/**
 * Detects the type of a file from its content. The declared type counts only for harmless kinds of text, which have no magic
 * numbers. Other unknown content is `application/octet-stream`.
 *
 * @param head the first `SNIFF_BYTES`, or the whole file when it is shorter
 * @param declared untrusted type from the client
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
    // A damaged file.
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
