/** The value of a structured field, and its parameters from the first semicolon to the line end (RFC 2045 5.1). */
interface StructuredValue {
  value: string;
  parameters: string;
}

interface Parameter {
  name: string;
  /** One character a byte; undefined for a name alone. */
  value: string | undefined;
  /** The parser would read another name or value. */
  isRepaired: boolean;
}

const SEPARATORS = /[\s,]*/y;
const PARAMETER = /[\w*-]+\s*=/y;
const LINE_END = /\r?\n$/;
const PARAMETER_END = /\s*(?:;|$)/y;
const TOKEN = /^[\w!#$%&'*+.^`|~{}-]+$/;
/** A name of a file, not in the encoded form of RFC 2231. */
const FILE = /^(?:file)?name(?:\*\d+)?$/;
const SECTION = /\*(?:(\d+)(\*)?)?$/;
const PREFIX = /^([^']*)'[^']*'(.*)$/s;
/** A token in these is the same text without a character set. */
const ASCII = /^(?:us-ascii|utf-8)$/i;
/** A boundary of these is not encoded: it is compared with the bytes of the body. */
const PRINTABLE = /^[ -~]*$/;
const CHARSET = /^[\w:.+-]{1,40}$/;
const ESCAPE = /%([\da-f]{2})/gi;
const LONE_PERCENT = /%(?![\da-f]{2})/i;

const matchesAt = (expression: RegExp, text: string, at: number): boolean => {
  expression.lastIndex = at;
  return expression.test(text);
};

/** The position after the comment at `at`, which may contain comments; -1 for one without its end. */
function endOfComment(text: string, at: number): number {
  let depth = 0;
  for (let next = at; next < text.length; next += 1) {
    const character = text.charAt(next);
    if (character === '\\') next += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return next + 1;
    }
  }
  return -1;
}

/** Finds the comments of a text. After one without its end, a parenthesis is a character as any other, so that the time stays linear. */
function commentsOf(text: string): (at: number) => number {
  let hasOpen = false;
  return (at) => {
    if (hasOpen || text.charAt(at) !== '(') return -1;
    const end = endOfComment(text, at);
    hasOpen = end < 0;
    return end;
  };
}

/** The value without comments, and the parameters, also without a semicolon before the first one. @param from after the colon */
export function splitValue(text: string, from: number): StructuredValue {
  const commentAt = commentsOf(text);
  let value = '';
  for (let at = from; at < text.length;) {
    const end = commentAt(at);
    if (end >= 0) {
      value += ' ';
      at = end;
      continue;
    }
    if (text.charAt(at) === ';') return { value: value.trim(), parameters: text.slice(at) };
    SEPARATORS.lastIndex = at;
    const blank = SEPARATORS.exec(text)?.[0] ?? '';
    if ((blank !== '' || at === from) && matchesAt(PARAMETER, text, at + blank.length))
      return { value: value.trim(), parameters: `; ${text.slice(at + blank.length)}` };
    value += blank || text.charAt(at);
    at += blank.length || 1;
  }
  return { value: value.trim(), parameters: LINE_END.exec(text)?.[0] ?? '' };
}

/** Reads the parameters after their first semicolon. */
function readParameters(text: string): Parameter[] {
  const commentAt = commentsOf(text);
  const found: Parameter[] = [];
  for (let at = 0; at < text.length; at += 1) {
    let name = '';
    let isRepaired = false;
    for (; at < text.length && !'=;'.includes(text.charAt(at)); at += 1) {
      const end = commentAt(at);
      if (end < 0) name += text.charAt(at);
      else {
        isRepaired = true;
        at = end - 1;
      }
    }
    name = name.trim().toLowerCase();
    if (text.charAt(at) !== '=') {
      if (name !== '') found.push({ name, value: undefined, isRepaired });
      continue;
    }
    const read = readParameter(text, at + 1, name, commentAt);
    found.push({ name, value: read.value, isRepaired: isRepaired || read.isRepaired });
    at = read.next;
  }
  return found;
}

/** Reads a value up to its semicolon. */
function readParameter(text: string, from: number, name: string, commentAt: (at: number) => number) {
  const isFile = FILE.test(name);
  let value = '';
  /** Its first two characters. */
  let start: string | undefined;
  let isRepaired = false;
  let isQuoted = false;
  let hasQuotes = false;
  /** The length of the value with its last quoted character. */
  let kept = 0;
  let at = from;
  for (; at < text.length && (isQuoted || text.charAt(at) !== ';'); at += 1) {
    const character = text.charAt(at);
    const end = isQuoted ? -1 : commentAt(at);
    if (end >= 0 && isComment(text, at, end, name, value, hasQuotes)) {
      isRepaired = true;
      at = end - 1;
    } else if (end >= 0) {
      value += text.slice(at, end);
      at = end - 1;
    } else if (character === '"') {
      isQuoted = !isQuoted;
      hasQuotes = true;
    } else if (character === '\\') {
      start ??= value.slice(0, 2) || text.slice(at, at + 2);
      at += 1;
      const isDirectory = isFile && isDirectoryBefore(text.charAt(at), start);
      isRepaired ||= isDirectory;
      value += `${isDirectory ? '\\' : ''}${text.charAt(at)}`;
    } else if (isQuoted || value !== '' || character.trim() !== '') value += character;
    if (isQuoted) kept = value.length;
  }
  return { value: value.slice(0, kept) + value.slice(kept).trimEnd(), isRepaired, next: at };
}

/**
 * Whether the text between parentheses is no part of a value. Programs write names of files such as `plan (2).pdf` without quotes, and
 * boundaries with parentheses.
 */
function isComment(
  text: string,
  at: number,
  end: number,
  name: string,
  value: string,
  hasQuotes: boolean,
): boolean {
  if (hasQuotes) return true;
  if (name === 'boundary') return /\s/.test(text.charAt(at - 1));
  if (!FILE.test(name)) return true;
  // The value is read once only, after the last comment.
  return matchesAt(PARAMETER_END, text, end) && /^\S+\.\w{1,8}\s+$/.test(value);
}

/**
 * Whether a backslash is that of a directory (RFC 2183 2.3: some programs send the whole path) and not one that quotes a character. It is
 * before letters and digits, or in the path of a drive or a server. Some programs quote an underscore.
 * @param next the character after it
 * @param start the first two characters of the name
 */
const isDirectoryBefore = (next: string, start: string): boolean =>
  next !== '"' && next !== '\\' && (/[A-Za-z\d\x80-\xff]/.test(next) || /^(?:[a-z]:|\\\\)$/i.test(start));

/** @returns `; name=value` */
function writeParameter(name: string, value: string | undefined): string {
  if (value === undefined) return `; ${name}`;
  return `; ${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, String.raw`\$&`)}"`}`;
}

interface Section {
  /** -1 for a value that is not divided. */
  number: number;
  isEncoded: boolean;
  value: string;
}

/** The sections of a value in their order. Of several with one number, the last one counts, and an encoded one before others. */
function sortSections(parameters: readonly Parameter[]): Section[] {
  const sections = new Map<number, Section>();
  for (const { name, value = '' } of parameters) {
    const [, number = '-1', star] = SECTION.exec(name) ?? [];
    const section = { number: Number(number), isEncoded: star !== undefined || name.endsWith('*'), value };
    if (section.isEncoded || !sections.get(section.number)?.isEncoded) sections.set(section.number, section);
  }
  const whole = sections.get(-1);
  // Beside all sections, it is the same value again.
  if (whole && sections.has(0)) return [whole];
  return [...sections.values()].toSorted((one, other) => one.number - other.number);
}

/** The parameters of one name in the form of RFC 2231, joined. Only sections whose names end with `*` are percent-encoded. */
function joinSections(name: string, sections: readonly Parameter[]): string {
  const sorted = sortSections(sections);
  const [first] = sorted;
  const [, declared, rest] = (first?.isEncoded && PREFIX.exec(first.value)) || [];
  if (first && rest !== undefined) first.value = rest;
  const encoded = sorted.filter(({ isEncoded, value }) => isEncoded && value.includes('%'));
  // Some programs leave the character set out.
  const isUtf8 = encoded.length > 0 && !encoded.some(({ value }) => LONE_PERCENT.test(value));
  const charset = declared === undefined ? (isUtf8 ? 'utf-8' : undefined) : declared || 'utf-8';
  const bytes = sorted.map(({ isEncoded, value }) =>
    isEncoded && charset !== undefined
      ? value.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      : value,
  );
  const joined = bytes.join('');
  const isBoundary = name === 'boundary' && PRINTABLE.test(joined);
  if (charset === undefined || isBoundary || (ASCII.test(charset) && TOKEN.test(joined)))
    return writeParameter(name, joined);
  const written = joined.replace(
    /[^A-Za-z\d.-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
  return `; ${name}*=${CHARSET.test(charset) ? charset : 'utf-8'}''${written}`;
}

/**
 * Parameters as the parser reads them: without comments, with directories of files, and with the sections of RFC 2231 joined.
 * @param text from the first semicolon to the line end
 */
export function repairParameters(text: string): string {
  if (!/[(\\*]/.test(text)) return text;
  const lineEnd = LINE_END.exec(text)?.[0] ?? '';
  const all = readParameters(text.slice(1, text.length - lineEnd.length));
  const sections = Map.groupBy(
    all.filter(({ name, value }) => value !== undefined && SECTION.test(name)),
    ({ name }) => name.replace(SECTION, ''),
  );
  if (sections.size === 0 && !all.some(({ isRepaired }) => isRepaired)) return text;
  // The encoded form counts (RFC 6266 4.3).
  const plain = all.filter(({ name }) => !SECTION.test(name) && !sections.has(name));
  const written = [
    ...plain.map(({ name, value }) => writeParameter(name, value)),
    ...[...sections].map(([name, own]) => joinSections(name, own)),
  ];
  return written.join('') + lineEnd;
}
