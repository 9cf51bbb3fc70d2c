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

/** The zeros of the decimal digits of each script in the Basic Multilingual Plane; the nine other digits follow each. */
const ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
  0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
  0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

/** Digits of all scripts and the same digits in ASCII, for `translate` of SQL. */
export const SCRIPT_DIGITS = {
  from: ZEROS.flatMap((zero) => Array.from({ length: 10 }, (_, n) => String.fromCharCode(zero + n))).join(''),
  to: '0123456789'.repeat(ZEROS.length),
};
