import { phoneNumbers } from './phone-numbers.js';

/** Numbers that are remembered between the check of a card and its words. */
const MAX = 2_000;
const known = new Map<string, string>();

/** Saves a second look at the number. */
export function rememberNational(e164: string, national: string): void {
  if (known.size >= MAX) known.clear();
  known.set(e164, national);
}

/** The number without its country; empty where that is unknown. */
export const nationalNumber = (e164: string): string =>
  known.get(e164) ?? phoneNumbers().parsePhoneNumberFromString(e164)?.nationalNumber ?? '';
