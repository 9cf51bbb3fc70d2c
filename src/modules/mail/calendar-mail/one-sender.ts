import { objectsOf } from '../input/fields.js';

/**
 * Whether a mail has exactly one From with exactly one address (RFC 7489, section 6.6.1). Otherwise a verified domain proves nothing:
 * servers and clients differ in which of the addresses they verify and show.
 * @param headers `{ key, value }` of a message; missing: the mail service does not report them
 */
export function hasOneSender(headers: unknown): boolean {
  if (!Array.isArray(headers)) return true;
  const values = objectsOf(headers).flatMap(({ key, value }) =>
    typeof key === 'string' && key.toLowerCase() === 'from' ? [String(value)] : [],
  );
  return values.length === 1 && countAddresses(values[0] as string) === 1;
}

/** The number of `@` outside of quoted strings and comments (RFC 5322, section 3.2). */
function countAddresses(header: string): number {
  let count = 0;
  let comments = 0;
  let isQuoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (character === '\\' && (isQuoted || comments > 0)) at += 1;
    else if (isQuoted) isQuoted = character !== '"';
    else if (character === '(') comments += 1;
    else if (comments > 0) comments -= character === ')' ? 1 : 0;
    else if (character === '"') isQuoted = true;
    else if (character === '@') count += 1;
  }
  return count;
}
