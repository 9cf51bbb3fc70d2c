import type * as PhoneNumbers from 'libphonenumber-js';
import { lazy } from '../lazy/index.js';

/** The library of telephone numbers, which loads on first use: most processes read no number. */
export const phoneNumbers = lazy((require) => require('libphonenumber-js') as typeof PhoneNumbers);

/** Whether a country (ISO 3166) has telephone numbers of its own. */
export const isPhoneCountry = (country: string): boolean => phoneNumbers().isSupportedCountry(country);

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

/** A number with letters in the place of digits, such as `1-800-246-BOAT`: digits, then three letters or more, and its extension. */
export const VANITY =
  /^(?<number>\+?[\d\s().-]{3,}(?=(?:[\d\s().-]*[a-z]){3})[a-z\d\s().-]+?)(?:\s*(?:;ext=|#|\bx|\bextn?\.?)\s*(?<ext>\d{1,7}))?$/i;

const KEYS = '22233344455566677778889999';

/** The digits of a telephone keypad for letters (ITU-T E.161). */
export const withoutLetters = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => KEYS[letter.toLowerCase().charCodeAt(0) - 97] as string);
