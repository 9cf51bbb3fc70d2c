/** A tel URI (RFC 3966). A number in a context such as `+1` begins with it. Undefined for other texts. */
export function telLink(text: string): { number: string; extension: string | null } | undefined {
  const found = /^\s*tel:([^;]+)(;.*)?$/is.exec(text);
  if (!found) return undefined;
  const [, subscriber = '', parameters = ''] = found;
  const of = (name: string): string | undefined =>
    new RegExp(`;${name}=([^;]+)`, 'i').exec(parameters)?.[1]?.trim();
  const context = of('phone-context');
  const number = decoded(subscriber).trim();
  const isLocal = context?.startsWith('+') && !number.startsWith('+');
  if (number === '') return undefined;
  return { number: isLocal ? `${context}${number}` : number, extension: of('ext')?.slice(0, 50) ?? null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A number with letters in the place of digits, such as `1-800-246-BOAT`: digits, then three letters or more. */
export const VANITY = /^\+?[\d\s().-]{3,}(?=[\d\s().-]*[a-z]{3})[a-z\d\s().-]+$/i;

const KEYS = '22233344455566677778889999';

/** The digits of a telephone keypad for letters (ITU-T E.161). */
export const withoutLetters = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => KEYS[letter.toLowerCase().charCodeAt(0) - 97] as string);

/** The text with its digits of any script in ASCII. A run of digits in Unicode consists of blocks of ten that begin with zero. */
export function asciiDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) as number;
    let first = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
    return String((code - first) % 10);
  });
}
