import { fold, foldedWords, nameWords } from '../search-text/index.js';
import type { ContactCard, ContactPhone } from './card.js';
import { nationalNumber } from './phone-numbers.js';
import { addressForms, asciiDigits, cutText, inBothKana, mailAddress, telLink } from '../text/index.js';

// The index of an address book lists a contact under folded words and under keys. Keys contain a character that words never
// do: `@` in an e-mail address, `+` before an international telephone number, `#` before a category, `/` before a department,
// `=` before the words of the name in alphabetical order.

/** Words and keys of one contact. */
const MAX_WORDS = 250;
/** Code points of a word; longer ones are cut, in contacts and in queries alike. */
const MAX_LENGTH = 64;
/** Characters of an address that is a key. */
const MAX_ADDRESS = 320;
const MAX_TERMS = 6;
/** No word begins with it. */
const IN_NO_WORD = '@';

/** Scripts without spaces between words, and Hangul, where a part of a name is a usual query. */
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

const wordsOf = (text: string): string[] => nameWords(text).map(shortened);

const shortened = (word: string): string => cutText(word, MAX_LENGTH);

/** The word and, in scripts without spaces, its suffixes, so that a prefix search finds each part. */
function withSuffixes(word: string): string[] {
  if (!SPACELESS.test(word)) return [word];
  const characters = [...word];
  return characters.map((_, n) => characters.slice(n).join(''));
}

const digitsOf = (text: string): string => asciiDigits(text).replaceAll(/\D/g, '');

/** The keys of an address in each spelling of its domain. */
const emailKeys = (address: string): string[] =>
  addressForms(mailAddress(address)).flatMap((form) => emailKey(form) ?? []);

/** The key of an e-mail address; null for other texts. */
export function emailKey(address: string): string | null {
  const key = fold(mailAddress(address));
  return key.length <= MAX_ADDRESS && /^[^\s@]+@[^\s@]+$/.test(key) ? key : null;
}

/**
 * Forms in which users type a number; a query is a prefix of one: as written, international, national with and without the trunk
 * prefix 0 of most countries, the last digits.
 */
function phoneWords({ value, e164 }: ContactPhone): string[] {
  const digits = digitsOf(value);
  const forms = [digits, digits.slice(-7), digits.slice(-4)];
  if (e164 !== null) {
    const national = nationalNumber(e164);
    forms.push(e164.slice(1), national, `0${national}`);
  }
  return forms.filter((word) => word.length >= 2);
}

export const phoneKey = (e164: string): string => e164;
export const departmentKey = (unit: string): string => `/${cutText(fold(unit), MAX_LENGTH)}`;
export const categoryKey = (category: string): string => `#${cutText(fold(category), MAX_LENGTH)}`;

/** The key of a name; null for a name without words. Names with the same words in another order are equal. */
function nameKey(name: string | null): string | null {
  const words = foldedWords(name ?? '').map(shortened);
  return words.length === 0 ? null : `=${cutText(words.toSorted().join(' '), MAX_ADDRESS)}`;
}

/** The key of a number as it was written, for numbers without an international form. */
export const digitsKey = (number: string): string => digitsOf(telLink(number)?.number ?? number);

/** Keys by which two contacts may be the same person. */
export function identityKeys(card: ContactCard): string[] {
  const keys = [
    ...card.emails.flatMap(({ value }) => emailKeys(value)),
    ...card.phones.map(({ e164 }) => e164 && phoneKey(e164)),
    nameKey(card.full_name),
  ];
  return [...new Set(keys.filter((key) => key !== null))];
}

/** Words and keys under which the index lists a contact. */
export function contactWords(card: ContactCard): string[] {
  const { full_name, name, nicknames, organization, job_title, emails, phones, categories } = card;
  const named = [
    full_name,
    ...Object.values(name ?? {}),
    ...nicknames,
    organization?.name,
    ...(organization?.units ?? []),
    job_title,
  ];
  const words = new Set([
    ...identityKeys(card),
    ...categories.map(categoryKey),
    ...(organization?.units ?? []).map(departmentKey),
    ...named
      .flatMap((part) => wordsOf(part ?? ''))
      .flatMap(inBothKana)
      .flatMap(withSuffixes),
    ...phones.flatMap(phoneWords).map((word) => cutText(word, MAX_LENGTH)),
    ...emails.flatMap(({ value }) => addressForms(value).flatMap(wordsOf)),
  ]);
  return [...words].slice(0, MAX_WORDS);
}

/** The place of a contact in lists by name. */
export const sortKey = (card: ContactCard): string =>
  fold(card.full_name ?? '')
    .slice(0, 200)
    .toWellFormed();

/** Sorts after every other character. */
const LAST = '\u{10ffff}';

/** The range of the words that begin with the longest of these terms: it has the fewest contacts. @param terms at least one */
export function prefixRange(terms: readonly string[]): [from: string, to: string] {
  const [longest = ''] = terms.toSorted((one, other) => other.length - one.length);
  return [longest, longest + LAST];
}

/**
 * Terms of a query: each is a prefix of a word of the contacts that match. Those of a query of signs are a prefix of none.
 * @returns at most MAX_TERMS; empty for a blank query
 */
export function queryTerms(query: string): string[] {
  const number = asciiDigits(telLink(query)?.number ?? query);
  if (/^[+\d\s().\-/]+$/.test(number)) {
    const digits = digitsOf(number.trim().replace(/^00/, ''));
    if (digits !== '') return [cutText(digits, MAX_LENGTH)];
  }
  const terms = fold(query.trim())
    .split(/\s+/)
    .flatMap((word) =>
      /^[^@]+@/.test(word) ? [cutText(word, MAX_ADDRESS)] : foldedWords(word).map(shortened),
    );
  if (terms.length === 0 && query.trim() !== '') return [IN_NO_WORD];
  return [...new Set(terms)].slice(0, MAX_TERMS);
}
