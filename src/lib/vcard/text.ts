/** Texts of vCards: escapes, lists. */
/** One escaped text of RFC 6350, 3.4. A backslash before any other character stays: vCard 2.1 does not escape it. */
export function unescapeText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([nN,;:\\])/g, (_, char: string) => (char === 'n' || char === 'N' ? '\n' : char));
}

export function escapeText(text: string): string {
  return text.replace(/[\\,;]|\r\n?|\n/g, (char) => (char < ' ' ? '\\n' : `\\${char}`));
}

/** Splits at each `separator` without a backslash before it; the parts stay escaped. */
export function splitEscaped(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Removes control characters other than tab and line feed, lone surrogates and outer white space; null for an empty text. */
export function cleanText(text: string | null | undefined): string | null {
  if (!text) return null;
  const cleaned = text.replace(/\r\n?/g, '\n').replace(CONTROLS, '').toWellFormed().trim();
  return cleaned || null;
}

/** As `cleanText`, in one line. */
export function cleanLine(text: string | null | undefined): string | null {
  const cleaned = cleanText(text);
  if (!cleaned?.includes('\n')) return cleaned;
  // Not by one expression with `\s*`: its time is quadratic in a run of spaces.
  const lines = cleaned.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).join(' ');
}

/** An unescaped and cleaned text in one line. */
export function lineOf(value: string | undefined): string | null {
  return value ? cleanLine(unescapeText(value)) : null;
}

/** The cleaned texts without empty ones and duplicates. */
export function distinct(texts: Iterable<string | null | undefined>): string[] {
  return [...new Set([...texts].filter((text): text is string => Boolean(text)))];
}

/** A type in the form of an entry of TYPE, whose separator is the comma. */
export function typeToken(type: string): string {
  return cleanLine(type.replaceAll(',', ' '))?.toLowerCase() ?? '';
}
