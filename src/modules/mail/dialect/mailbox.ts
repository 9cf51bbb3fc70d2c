import { queryHides } from './query.js';
import { type Fields, pick } from '../fields.js';
import { truth } from './words.js';

const FIELDS = ['path', 'retention', 'subscribed', 'hidden'] as const;

/** True when body or query ask for a hidden mailbox, in any spelling that the mail service takes for true. */
export const hides = (body: Fields, query: string): boolean => saysTrue(body['hidden']) || queryHides(query);

const saysTrue = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((item) => saysTrue(item))
    : truth(typeof value === 'string' ? value.trim() : value) === true;

export const mailboxFields = (body: Fields): Fields => pick(body, FIELDS);

/** A mailbox to be created, and what can only be said of it once it exists: WildDuck subscribes every new mailbox. */
export function newMailbox(body: Fields): { fields: Fields; after: Fields | null } {
  const { subscribed, ...fields } = mailboxFields(body);
  const wanted = truth(subscribed);
  if (subscribed === undefined || wanted === true) return { fields, after: null };
  // What is no boolean goes along, to be refused before anything is created.
  return wanted === false
    ? { fields, after: { subscribed: false } }
    : { fields: { ...fields, subscribed }, after: null };
}
