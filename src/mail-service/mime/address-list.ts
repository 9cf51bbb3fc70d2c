/** An address of a header, or a group of addresses. */
export interface ListedAddress {
  name: string;
  address?: string;
  group?: ListedAddress[];
}

type Kind = 'atom' | 'quoted' | 'comment' | 'literal' | 'special';

interface Token {
  kind: Kind;
  /** The content; of a quoted string, a comment and a literal without delimiters and backslashes. */
  text: string;
  /** White space or a comment precedes. */
  isApart: boolean;
}

const SPECIALS = new Set([',', ';', ':', '<', '>', '@']);
/** Content of a quoted string that is the same address without quotes (RFC 5322, dot-atom). */
const DOT_ATOM = /^[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/;
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?[^?\s]{0,1000}\?=/iy;
/** The tokens of a header that are read. */
const MAX_TOKENS = 100_000;

/**
 * Parses the addresses of a header (RFC 5322 3.4). A comment is no part of an address or of a name; after an address without a
 * name, it is the name. Tolerates names with commas, missing delimiters and spaces within addresses. The parser of nodemailer
 * takes comments within angle brackets as parts of the address and does not know nested ones.
 */
export function addressList(header: string): ListedAddress[] {
  const tokens = tokensOf(header);
  const list: ListedAddress[] = [];
  let group: ListedAddress | undefined;
  let element: Token[] = [];
  let isBracketed = false;
  const end = (): void => {
    const address = addressOf(element);
    element = [];
    isBracketed = false;
    if (address) add(group?.group ?? list, address);
  };
  for (const token of tokens) {
    const special = token.kind === 'special' ? token.text : '';
    if (special === '<') isBracketed = true;
    if (special === '>') isBracketed = false;
    if (special === ':' && !isBracketed && !group && !element.some(isAt)) {
      group = { name: phraseOf(element), group: [] };
      list.push(group);
      element = [];
    } else if (special === ';' || (special === ',' && !isRoute(element, isBracketed))) {
      end();
      if (special === ';') group = undefined;
    } else element.push(token);
  }
  end();
  return list;
}

const isSpecial = ({ kind, text }: Token, special: string): boolean => kind === 'special' && text === special;
const isAt = (token: Token): boolean => isSpecial(token, '@');
const withoutComments = (tokens: readonly Token[]): Token[] =>
  tokens.filter(({ kind }) => kind !== 'comment');

/** A comma within `<@one.example,@two.example:pat@x.example>`. */
function isRoute(element: readonly Token[], isBracketed: boolean): boolean {
  if (!isBracketed) return false;
  const [first] = withoutComments(element.slice(element.findLastIndex((token) => isSpecial(token, '<')) + 1));
  return first !== undefined && isAt(first);
}

/** Adds an address. A name without an address is the beginning of a name with a comma: `Doe, Pat <pat@x.example>`. */
function add(list: ListedAddress[], address: ListedAddress): void {
  const previous = list.at(-1);
  if (previous && previous.group === undefined && previous.address === '' && address.name !== '') {
    list[list.length - 1] = { ...address, name: `${previous.name}, ${address.name}` };
    return;
  }
  list.push(address);
}

/** @returns undefined for an element without a name and an address */
function addressOf(element: readonly Token[]): ListedAddress | undefined {
  const open = element.findLastIndex((token) => isSpecial(token, '<'));
  if (open >= 0) {
    const close = element.findIndex((token, n) => n > open && isSpecial(token, '>'));
    const inner = withoutComments(element.slice(open + 1, close < 0 ? undefined : close));
    const route = inner[0] && isAt(inner[0]) ? inner.findIndex((token) => isSpecial(token, ':')) : -1;
    const outer = [...element.slice(0, open), ...(close < 0 ? [] : element.slice(close + 1))];
    const name = phraseOf(outer) || lastComment(outer);
    const content = withoutScheme(inner.slice(route + 1));
    return isGroup(content)
      ? { name: name || phraseOf(content), address: '' }
      : { name, address: writeTokens(content) };
  }
  const words = withoutComments(element);
  const at = words.findIndex(isAt);
  if (at < 0) {
    const name = phraseOf(words);
    return name === '' ? undefined : { name, address: '' };
  }
  // Words beside the address that are no part of it are a name: `Pat Doe pat@x.example`.
  let from = at;
  let to = at;
  while (from > 0 && continues(words[from - 1] as Token, words[from] as Token)) from -= 1;
  while (to + 1 < words.length && continues(words[to] as Token, words[to + 1] as Token)) to += 1;
  const after = element.slice(element.indexOf(words[to] as Token));
  return {
    name: phraseOf([...words.slice(0, from), ...words.slice(to + 1)]) || lastComment(after),
    address: writeTokens(words.slice(from, to + 1)),
  };
}

const SCHEME = /^(?:mailto|smtp)$/i;

/** Without the `mailto:` of a link, or the `smtp:` of a directory. */
const withoutScheme = (tokens: Token[]): Token[] =>
  tokens[0] && SCHEME.test(tokens[0].text) && tokens[1] && isSpecial(tokens[1], ':')
    ? tokens.slice(2)
    : tokens;

/** True for an empty group within brackets, as in `<Undisclosed-Recipient:;>` or `<Undisclosed-Recipient:@list.example;>`. */
function isGroup(tokens: readonly Token[]): boolean {
  const at = tokens.findIndex(isAt);
  const last = at < 0 ? tokens.at(-1) : tokens[at - 1];
  return last !== undefined && isSpecial(last, ':');
}

/** True for neighbouring tokens of one address: without white space between them, or beside `@` or a dot. */
const continues = (left: Token, right: Token): boolean =>
  !right.isApart || isAt(left) || isAt(right) || left.text.endsWith('.') || right.text.startsWith('.');

/** The address of its tokens, without comments and white space. Needless quotes of the local part are removed. */
function writeTokens(tokens: readonly Token[]): string {
  return tokens
    .map(({ kind, text }) => {
      if (kind === 'literal') return `[${text}]`;
      return kind === 'quoted' && !DOT_ATOM.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
    })
    .join('');
}

function phraseOf(tokens: readonly Token[]): string {
  return withoutComments(tokens)
    .map(({ text, isApart, kind }, n) => (n > 0 && (isApart || kind === 'quoted') ? ` ${text}` : text))
    .join('')
    .trim();
}

const lastComment = (tokens: readonly Token[]): string =>
  tokens.findLast(({ kind }) => kind === 'comment')?.text.trim() ?? '';

function tokensOf(header: string): Token[] {
  const tokens: Token[] = [];
  let isApart = false;
  let at = 0;
  while (at < header.length && tokens.length < MAX_TOKENS) {
    const character = header.charAt(at);
    if (/\s/.test(character)) {
      isApart = true;
      at += 1;
      continue;
    }
    const { kind, text, next } = tokenAt(header, at);
    tokens.push({ kind, text, isApart });
    isApart = kind === 'comment';
    at = next;
  }
  return tokens;
}

function tokenAt(header: string, at: number): { kind: Kind; text: string; next: number } {
  const character = header.charAt(at);
  if (SPECIALS.has(character)) return { kind: 'special', text: character, next: at + 1 };
  if (character === '"') return { kind: 'quoted', ...delimited(header, at, '"') };
  if (character === '(') return { kind: 'comment', ...delimited(header, at, ')') };
  if (character === '[') return { kind: 'literal', ...delimited(header, at, ']') };
  // Senders leave commas in encoded words.
  ENCODED_WORD.lastIndex = at;
  let next = at + (ENCODED_WORD.exec(header)?.[0].length ?? 1);
  while (next < header.length && !/[\s,;:<>@"(]/.test(header.charAt(next))) next += 1;
  return { kind: 'atom', text: header.slice(at, next), next };
}

/** A structured header with a space in place of each comment (RFC 5322 3.2.2). It does not read quoted strings. */
export function removeComments(header: string): string {
  let kept = '';
  for (let at = 0; at < header.length;) {
    const isComment = header.charAt(at) === '(';
    kept += isComment ? ' ' : header.charAt(at);
    at = isComment ? delimited(header, at, ')').next : at + 1;
  }
  return kept;
}

/** The content between delimiters, without backslashes; comments may contain comments. Ends with the header if it is not closed. */
function delimited(header: string, at: number, close: string): { text: string; next: number } {
  let text = '';
  let depth = 1;
  let next = at + 1;
  for (; next < header.length; next += 1) {
    let character = header.charAt(next);
    if (character === '\\' && next + 1 < header.length) {
      next += 1;
      character = header.charAt(next);
    } else if (character === '(' && close === ')') depth += 1;
    else if (character === close) {
      depth -= 1;
      if (depth === 0) return { text, next: next + 1 };
    }
    text += character;
  }
  return { text, next };
}
