import type { Headers } from 'mailparser';
import { isMessageId, shortenReferences } from './clean-text.js';

const MAX_MESSAGE_ID = 250;

/** An id in brackets, a quoted string, a comment or a word. */
const WORD = /<[^<>]*>|"(?:[^"\\]|\\.)*"|\((?:[^()]|\([^()]*\))*\)|[^<>\s,]+/gs;
const FROM = /^from:?$/i;
/** What follows a sender in a phrase: `from Pat of "Sat, 28 Nov"`, `from Mon, 2 Mar 2026`. A day of the week may be a name. */
const AFTER_SENDER = /^(?:at|dated|of|on|sent|\d{1,4}(?:[-/:.].*)?)$|@/i;
/** `Pat <pat@x.example>'s message of Sat`. */
const POSSESSIVE = /^['\u2019]s$/i;

const isBracketed = (word: string): boolean => word.startsWith('<');
const isId = (word: string): boolean => isBracketed(word) || /.@./.test(word);

const WRAPPED = /^".*"$|^\(.*\)$/s;
const BRACKETED_ID = /^<[^<>@]*@[^<>]*>$/;

/**
 * The words of a header without quoted strings and comments. Some programs write ids themselves in these, which count if no id is outside
 * of them: a comment after an id may be the address of the sender. An id without brackets is none of a phrase.
 */
function wordsOf(header: string): string[] {
  const all = header.match(WORD) ?? [];
  const words = all.filter((word) => !WRAPPED.test(word));
  if (words.some(isBracketed) || (words.length > 0 && words.every(isId))) return words;
  return all
    .map((word) => {
      const inner = WRAPPED.test(word) ? word.slice(1, -1).trim() : '';
      return BRACKETED_ID.test(inner) ? inner : word;
    })
    .filter((word) => !WRAPPED.test(word));
}

/** Blanks within an id are those of folding, or beside its parts (RFC 5322, 4.5.4). */
const toIds = (words: readonly string[]): string[] =>
  words
    .filter((word) => !isBracketed(word) || word.includes('@') || !/\s/.test(word))
    .map((word) => (isBracketed(word) ? word.replace(/[ \t\r\n]+/g, '') : `<${word}>`))
    .filter((id) => id.length <= MAX_MESSAGE_ID && isMessageId(id));

/**
 * The ids of a header. Blanks, commas or nothing are between them (RFC 5322, 3.6.4: the blanks around an id are optional), and some lack
 * brackets. A header may be a phrase such as `Your message of Mon, 2 Mar 2026`, whose words are no ids (RFC 822, 4.6.2).
 */
export function messageIds(header: unknown): string[] {
  const words = wordsOf(typeof header === 'string' ? header : '');
  return toIds(words.length === 1 || words.every(isId) ? words : words.filter(isBracketed));
}

/**
 * The ids of In-Reply-To. A phrase has one id, and may have the address of the sender in brackets too, in any order:
 * `Message from Pat <pat@x.example> of "Sat, 28 Nov" <1@x.example>`, `<1@x.example> from Pat <pat@x.example> at Nov 28`. An address taken
 * for an id would put all answers to this person into one thread.
 */
function parentIds(header: unknown): string[] {
  const words = wordsOf(typeof header === 'string' ? header : '');
  if (words.every(isId)) return messageIds(header);
  let named: string | undefined;
  let isSender = false;
  for (const [n, word] of words.entries()) {
    if (!isBracketed(word)) isSender = FROM.test(word) || (isSender && !AFTER_SENDER.test(word));
    else if (!isSender && !POSSESSIVE.test(words[n + 1] ?? '')) named = word;
    if (isBracketed(word)) isSender = false;
  }
  return named === undefined && words.length > 1 ? [] : toIds([named ?? words[0] ?? '']);
}

/** The ids of the messages before a message: those of References, and a parent that they lack. */
export function referencesOf(headers: Headers): string[] {
  const all = [...messageIds(headers.get('references')), ...parentIds(headers.get('in-reply-to'))];
  return shortenReferences([...new Set(all)]);
}
