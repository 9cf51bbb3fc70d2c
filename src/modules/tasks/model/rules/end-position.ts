/** Keys for the end of a list in manual order, in the form of the library `fractional-indexing`. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
/** Digits of the time in milliseconds. */
const TIME_DIGITS = 8;
/** Digits with which the fraction counts behind the largest whole number. */
const COUNT_DIGITS = 8;

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
 * A key after another one, which is not longer than it has to be, so that a list does not get longer keys with each task. After the
 * largest whole number, the fraction counts in eight digits behind its leading `z`.
 * @param last begins with a letter from `a` to `z`, which announces 1 to 26 digits before the fraction
 */
export function positionBeyond(last: string): string {
  const length = last.charCodeAt(0) - 'a'.charCodeAt(0) + 2;
  const head = last.slice(0, 1);
  const whole = last.slice(1, length);
  if (/[^z]/.test(whole)) return head + nextNumber(whole);
  if (head !== 'z') return String.fromCharCode(last.charCodeAt(0) + 1) + '0'.repeat(length);
  const fraction = last.slice(length);
  const rest = fraction.replace(/^z+/, '');
  const count =
    rest === '' ? '0'.repeat(COUNT_DIGITS) : rest.slice(0, COUNT_DIGITS).padEnd(COUNT_DIGITS, '0');
  // The last digit of a fraction is not `0`.
  const next = nextNumber(count).replace(/0$/, '1');
  return last.slice(0, length) + 'z'.repeat(fraction.length - rest.length) + next;
}

/** The next number of the same length. @param digits has a digit other than `z` */
function nextNumber(digits: string): string {
  const counted = digits.replace(/z+$/, '');
  return (
    counted.slice(0, -1) +
    digitOf(DIGITS.indexOf(counted.slice(-1)) + 1) +
    '0'.repeat(digits.length - counted.length)
  );
}

const digitOf = (value: number): string => DIGITS.charAt(value);
