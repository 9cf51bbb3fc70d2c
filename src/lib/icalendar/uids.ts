import { createHash } from 'node:crypto';
import { type Component, type Property, propertyOf } from './component.js';
import { textOf } from './values.js';

/** Characters of a UID that is stored: it is part of an index. RFC 7986, 5.3 asks for less than 255 octets; some programs write more. */
const MAX_UID = 500;

/** The UID under which an item is stored: a digest in place of one that is too long. */
export const storedUid = (text: string): string =>
  text.length <= MAX_UID ? text : createHash('sha256').update(text).digest('hex');

/** The UID of a component as its program writes it, where a digest is stored in its place. */
export function longUidOf(item: Component): Property | undefined {
  const stated = propertyOf(item, 'UID');
  return stated && (textOf(item, 'UID') as string).trim().length > MAX_UID ? stated : undefined;
}
