import { isFields } from '../../input/fields.js';
import { cutText } from '../../../../lib/text/index.js';

/** A recipient of a message. */
export interface Recipient {
  address: string;
  name: string;
}

/** The local part may be quoted (RFC 5321 4.1.2). */
const ADDRESS = /^(?:[^\s@<>,;"]+|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])+")@[^\s@<>,;"]+$/u;
const MAX_ADDRESS = 320;
const MAX_NAME = 200;
/** WildDuck accepts 400 per message. */
const MAX_RECIPIENTS = 500;

/** The recipients of a message in the shape of a request or a response; invalid addresses are skipped. */
export function recipientsOf(message: Record<string, unknown>): Recipient[] {
  const found = new Map<string, Recipient>();
  for (const field of ['to', 'cc', 'bcc'] as const) {
    const list: unknown = message[field];
    for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
      const recipient = recipientOf(item);
      if (!recipient) continue;
      const key = recipientKey(recipient.address);
      if (found.size < MAX_RECIPIENTS && !found.get(key)?.name) found.set(key, recipient);
    }
  }
  return [...found.values()];
}

/** A recipient or sender as the mail service writes it; undefined without a valid address. */
export function recipientOf(item: unknown): Recipient | undefined {
  if (!isFields(item) || typeof item['address'] !== 'string') return undefined;
  const address = item['address'].trim();
  if (address.length > MAX_ADDRESS || !ADDRESS.test(address)) return undefined;
  const name = typeof item['name'] === 'string' ? cutText(item['name'].trim(), MAX_NAME) : '';
  return { address, name };
}

/** The key of an address: addresses that differ in case only are equal. */
export const recipientKey = (address: string): string => address.trim().normalize('NFKC').toLowerCase();
