import { phoneNumbers } from './phone-numbers.js';

/** Numbers that are cached between the check of a card and the computation of its words. */
const MAX = 2_000;
const cache = new Map<string, string>();

/** Saves a second parse of the number. */
export function rememberNational(e164: string, national: string): void {
  if (cache.size >= MAX) cache.clear();
  cache.set(e164, national);
}

/** The number without its country; empty where that is unknown. */
export const nationalNumber = (e164: string): string =>
  cache.get(e164) ?? phoneNumbers().parsePhoneNumberFromString(e164)?.nationalNumber ?? '';
