import { generateKeyBetween } from 'fractional-indexing';

/** Keys for the end of a list in manual order, in the form of the library `fractional-indexing`. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
/** Digits of the time in milliseconds. */
const TIME_DIGITS = 8;
/** Digits with which the fraction counts behind the largest whole number. */
const COUNT_DIGITS = 8;
/** The largest whole number of a key. */
const LARGEST_NUMBER = 'z'.repeat(27);

/**
 * A key for the end of a list: the time in base 62, so that tasks added at the same moment do not wait for one another; two random
 * digits keep them apart. `h` announces eight digits before the fraction.
 * @param last the last key of the list. When it is in the future (a task was moved behind it, or the clock went back), the new key
 *   still follows it
 * @param random from 0 to 1, as of `Math.random`
 */
export function positionAfter(last: string | null, now: Date, random: () => number = Math.random): string {
  let time = now.getTime();
  let digits = '';
  for (let n = 0; n < TIME_DIGITS; n += 1) {
    digits = digitOf(time % BASE) + digits;
    time = Math.floor(time / BASE);
  }
  // The last digit of a fraction is not `0`.
  const key = `h${digits}${digitOf(Math.floor(random() * BASE))}${digitOf(1 + Math.floor(random() * (BASE - 1)))}`;
  return last !== null && last >= key ? positionBeyond(last) : key;
}

/**
 * A key after another one: the next whole number. After the largest one, the fraction counts in eight digits behind its leading `z`; the
 * library would lengthen it every few tasks.
 * @param last a key of the library from `a0` on
 */
export function positionBeyond(last: string): string {
  if (!last.startsWith(LARGEST_NUMBER)) return generateKeyBetween(last, null);
  const fraction = last.slice(LARGEST_NUMBER.length);
  const rest = fraction.replace(/^z+/, '');
  const count = rest.slice(0, COUNT_DIGITS).padEnd(COUNT_DIGITS, '0');
  // The library counts numbers of eight digits behind an `h`. The last digit of a fraction is not `0`.
  const next = generateKeyBetween(`h${count}`, null).slice(1).replace(/0$/, '1');
  return LARGEST_NUMBER + 'z'.repeat(fraction.length - rest.length) + next;
}

const digitOf = (value: number): string => DIGITS.charAt(value);
