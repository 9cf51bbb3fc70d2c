import { booleanOf, type Fields, pick } from '../input/fields.js';
import { queryHides } from '../input/query.js';

const FIELDS = ['path', 'retention', 'subscribed', 'hidden'] as const;

/** True when body or query request a hidden mailbox, in any spelling of true that the mail service accepts. */
export const hides = (body: Fields, query: string): boolean => isTrue(body['hidden']) || queryHides(query);

const isTrue = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((item) => isTrue(item))
    : booleanOf(typeof value === 'string' ? value.trim() : value) === true;

/** Paths are in normalization form C (RFC 8621 2): macOS sends decomposed letters, which look the same. */
export function mailboxFields(body: Fields): Fields {
  const fields = pick(body, FIELDS);
  const { path } = fields;
  return typeof path === 'string' ? { ...fields, path: path.normalize('NFC') } : fields;
}

/** Splits a creation into the creation itself and a later update: WildDuck subscribes every new mailbox. */
export function newMailbox(body: Fields): { fields: Fields; update: Fields | null } {
  const { subscribed, ...fields } = mailboxFields(body);
  const wanted = booleanOf(subscribed);
  if (subscribed === undefined || wanted === true) return { fields, update: null };
  // Invalid values are forwarded with the creation, for the mail service to reject.
  return wanted === false
    ? { fields, update: { subscribed: false } }
    : { fields: { ...fields, subscribed }, update: null };
}
