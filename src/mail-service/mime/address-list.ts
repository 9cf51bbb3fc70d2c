/** An address of a header, or a group of addresses. */
export interface ListedAddress {
  name: string;
  address?: string;
  group?: ListedAddress[];
}

/** A stray is a delimiter without its counterpart: a character of a name. */
type Kind = 'atom' | 'quoted' | 'comment' | 'literal' | 'special' | 'stray';

interface Token {
  kind: Kind;
  /** The content; of a quoted string, a comment and a literal without delimiters and backslashes. */
  text: string;
  /** White space or a comment precedes. */
  isApart: boolean;
}

const SPECIALS = new Set([',', ';', ':', '<', '>', '@']);
/** Content of a quoted string that is the same address without quotes (RFC 5322, dot-atom). */
export const DOT_ATOM = /^[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/;
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?[^?\s]{0,1000}\?=/iy;
/** Within an encoded word or square brackets, a strict reader finds an address that ends before they do. */
const INNER_ADDRESS = /[<>]|@[^@]*[,;]/;
/** The tokens of a header that are read. */
const MAX_TOKENS = 100_000;

/**
 * Parses the addresses of a header (RFC 5322 3.4). A comment is no part of an address or of a name; after an address without a
 * name, it is the name. Tolerates names with commas, missing commas and delimiters, and spaces within addresses. The parser of
 * nodemailer takes comments within angle brackets as parts of the address and does not know nested ones.
 * @param isStrict for a header that names a sender: what RFC 5322 takes for a quoted string or a comment is always one and contains no
 * address, and nothing else hides one, so that the address is that of the programs that verify the sender
 */
export function addressList(header: string, isStrict = false): ListedAddress[] {
  return listOf(new Tokenizer(header, isStrict).tokens, isStrict);
}

function listOf(tokens: readonly Token[], isStrict: boolean): ListedAddress[] {
  const list: ListedAddress[] = [];
  let group: ListedAddress | undefined;
  let element: Token[] = [];
  let hasAt = false;
  let isBracketed = false;
  // The next token is the first one within brackets.
  let isFirst = false;
  // Commas are those of `<@one.example,@two.example:pat@x.example>`.
  let isRoute = false;
  const end = (): void => {
    for (const address of withoutRepeated(addressesOf(element, isStrict))) add(group?.group ?? list, address);
    element = [];
    hasAt = isBracketed = isFirst = isRoute = false;
  };
  for (const [n, token] of tokens.entries()) {
    const special = token.kind === 'special' ? token.text : '';
    if (special === '<' || special === '>') {
      isBracketed = isFirst = special === '<';
      isRoute = false;
    } else if (isFirst && token.kind !== 'comment') {
      isRoute = special === '@';
      isFirst = false;
    }
    hasAt ||= special === '@';
    if (special === ':' && !isBracketed && !group && !hasAt && !isSmile(tokens[n + 1])) {
      group = { name: phraseOf(element), group: [] };
      list.push(group);
      element = [];
    } else if (special === ';' || (special === ',' && !isRoute)) {
      end();
      if (special === ';') group = undefined;
    } else element.push(token);
  }
  end();
  return list;
}

/** The rest of `:(` or `:-)` in a name, which has no addresses. */
const isSmile = (next: Token | undefined): boolean =>
  next !== undefined && !next.isApart && (next.kind === 'stray' || /^-?\)/.test(next.text));

const isSpecial = ({ kind, text }: Token, special: string): boolean => kind === 'special' && text === special;
const isAt = (token: Token): boolean => isSpecial(token, '@');
const isOpen = (token: Token): boolean => isSpecial(token, '<');
const withoutComments = (tokens: readonly Token[]): Token[] =>
  tokens.filter(({ kind }) => kind !== 'comment');

/** Adds an address. A name without an address is the beginning of a name with a comma: `Doe, Pat <pat@x.example>`. */
function add(list: ListedAddress[], address: ListedAddress): void {
  const previous = list.at(-1);
  if (previous && previous.group === undefined && previous.address === '' && address.name !== '') {
    list[list.length - 1] = { ...address, name: `${previous.name}, ${address.name}` };
    return;
  }
  list.push(address);
}

/** Without the addresses that an element has twice, as in `"Pat" <pat@x.example> pat@x.example`; one with a name is kept. */
function withoutRepeated(found: ListedAddress[]): ListedAddress[] {
  if (found.length < 2) return found;
  const kept = new Map<string, ListedAddress>();
  for (const [n, entry] of found.entries()) {
    const key = entry.address ? entry.address.toLowerCase() : ` ${n}`;
    const earlier = kept.get(key);
    if (earlier === undefined || (earlier.name === '' && entry.name !== '')) kept.set(key, entry);
  }
  return [...kept.values()];
}

/** A quoted string that is an address with its name, or an address. */
const QUOTED_ADDRESS = /^[^<>]*<[^<>\s@]+@[^<>\s@]+>\s*$|^[^<>\s@]+@[^<>\s@]+$/;

/** An address that words of a name such as `Pat @ Acme` do not form. */
const INTERNET = /.@[^@]+\.[^@]/;

/** The addresses of an element: several where commas are missing between them. Empty without a name and an address. */
function addressesOf(element: readonly Token[], isStrict: boolean): ListedAddress[] {
  const [only] = element;
  if (!isStrict && element.length === 1 && only?.kind === 'quoted' && QUOTED_ADDRESS.test(only.text))
    return addressList(only.text);
  const found: ListedAddress[] = [];
  let from = 0;
  let hasAt = false;
  let open = -1;
  let last = -1;
  for (const [n, token] of element.entries()) {
    if (isOpen(token)) {
      if (last >= 0) {
        found.push(bracketed(element.slice(from, last), open));
        from = last;
        last = -1;
      }
      open = n - from;
      hasAt = false;
    }
    hasAt ||= isAt(token);
    // The comments after an address belong to it.
    if (last === n && token.kind === 'comment') last = n + 1;
    if (isSpecial(token, '>') && hasAt && last < 0) last = n + 1;
  }
  const rest = element.slice(from);
  if (open < 0) return [...found, ...unbracketed(rest)];
  // A comma may be missing before an address without brackets, too.
  const others =
    last < 0 ? [] : unbracketed(element.slice(last)).filter(({ address }) => INTERNET.test(address ?? ''));
  const own = others.length === 0 ? rest : element.slice(from, last);
  return [...found, bracketed(own, open), ...others];
}

/** @param open the index of the last `<` */
function bracketed(element: readonly Token[], open: number): ListedAddress {
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

/** Words beside the addresses that are no part of one are a name: `Pat Doe pat@x.example`. */
function unbracketed(element: readonly Token[]): ListedAddress[] {
  const found: ListedAddress[] = [];
  // The words after an address are the name of the next one, if there is one.
  let name: Token[] = [];
  let address: Token[] = [];
  let after: Token[] = [];
  let comment = '';
  const end = (): void => {
    if (address.length > 0)
      found.push({ name: phraseOf([...name, ...after]) || comment, address: writeTokens(address) });
    else if (name.length > 0) found.push({ name: phraseOf(name), address: '' });
  };
  let run: Token[] = [];
  for (const token of element) {
    if (token.kind === 'comment') {
      if (address.length > 0 && run === address) comment = token.text.trim();
      continue;
    }
    const previous = run.at(-1);
    if (previous && continues(previous, token)) {
      run.push(token);
      if (run === address) comment = '';
    } else {
      if (run !== address) (address.length > 0 ? after : name).push(...run);
      run = [token];
    }
    if (!isAt(token) || run === address) continue;
    if (address.length > 0) {
      const next = after;
      after = [];
      end();
      [name, comment] = [next, ''];
    }
    address = run;
  }
  if (run !== address) (address.length > 0 ? after : name).push(...run);
  end();
  return found.filter(({ name: written, address: known }) => written !== '' || known !== '');
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

/** True for neighbouring tokens of one address: without white space or a bracket between them, or beside `@` or a dot. */
const continues = (left: Token, right: Token): boolean =>
  !isSpecial(left, '>') &&
  left.kind !== 'stray' &&
  right.kind !== 'stray' &&
  (!right.isApart || isAt(left) || isAt(right) || left.text.endsWith('.') || right.text.startsWith('.'));

/** The address of its tokens, without brackets, comments and white space. Needless quotes of the local part are removed. */
function writeTokens(tokens: readonly Token[]): string {
  return tokens
    .filter((token) => token.kind !== 'stray' && !isOpen(token) && !isSpecial(token, '>'))
    .map(({ kind, text }) => {
      if (kind === 'literal') return `[${text}]`;
      return kind === 'quoted' && !DOT_ATOM.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
    })
    .join('');
}

/** The name of its tokens. Quotes without counterparts alone are none. */
function phraseOf(tokens: readonly Token[]): string {
  const words = withoutComments(tokens).filter((token) => !isOpen(token) && !isSpecial(token, '>'));
  if (words.every(({ kind, text }) => kind === 'stray' && text === '"')) return '';
  return words
    .map(({ text, isApart, kind }, n) => (n > 0 && (isApart || kind === 'quoted') ? ` ${text}` : text))
    .join('')
    .trim();
}

const lastComment = (tokens: readonly Token[]): string =>
  tokens.findLast(({ kind }) => kind === 'comment')?.text.trim() ?? '';

/** An address in brackets, which a quoted name contains too where its end is missing. */
const BRACKETED_ADDRESS = /<[^<>@]*@[^<>]*>/;
/** Content of square brackets. */
const SQUARE = /\[[^[\]<>"]*\]/y;
const DOMAIN_LITERAL = /\[[^[\]<>",;\s]*\]?/y;
const FLAT_COMMENT = /\([^()]*\)/y;

/** Divides a header in one pass: a delimiter without its counterpart is searched for once. */
class Tokenizer {
  readonly tokens: Token[] = [];
  private at = 0;
  /** Quotes before this index have no counterpart. */
  private strayQuotes = 0;
  private hasStrayComment = false;

  constructor(
    private readonly header: string,
    private readonly isStrict: boolean,
  ) {
    let isApart = false;
    while (this.at < header.length && this.tokens.length < MAX_TOKENS) {
      if (/\s/.test(header.charAt(this.at))) {
        isApart = true;
        this.at += 1;
        continue;
      }
      const { kind, text, next } = this.read();
      // A stray quote at the beginning of a word is no part of the name.
      if (kind !== 'stray' || text !== '') this.tokens.push({ kind, text, isApart });
      if (kind !== 'stray' || text !== '') isApart = kind === 'comment';
      this.at = next;
    }
  }

  private read(): { kind: Kind; text: string; next: number } {
    const { header, at } = this;
    const character = header.charAt(at);
    if (SPECIALS.has(character)) return { kind: 'special', text: character, next: at + 1 };
    if (character === '"') return this.quoted();
    if (character === '(') return this.comment();
    if (character === '[') return this.square();
    // Senders leave commas in encoded words.
    const word = matchAt(ENCODED_WORD, header, at) ?? '';
    let next = at + (word !== '' && this.isWhole(word) ? word.length : 1);
    while (next < header.length && !/[\s,;:<>@"(]/.test(header.charAt(next))) next += 1;
    const text = header.slice(at, next);
    // `"Pat\"`, of a program that takes the backslash for a character of the name.
    const isEscape = header.charAt(next) === '"' && next < this.strayQuotes && text.length > 1;
    return { kind: 'atom', text: isEscape ? text.replace(/\\$/, '') : text, next };
  }

  private quoted(): { kind: Kind; text: string; next: number } {
    const { header, at } = this;
    const isInWord = at > 0 && !/[\s\\,;:<>@"()]/.test(header.charAt(at - 1));
    if (at >= this.strayQuotes) {
      const { text, next, isClosed } = delimited(header, at, '"');
      // `"Pat <pat@x.example>, "Jo" <jo@x.example>`, and the inches of `24" Screens`.
      const isOfWord = isInWord || !/^[\s,;:<>@.("]?$/.test(header.charAt(next));
      const isStray = !this.isStrict && isOfWord && BRACKETED_ADDRESS.test(text);
      if (isClosed && !isStray) return { kind: 'quoted', text, next };
      this.strayQuotes = isClosed ? next - 1 : header.length;
    }
    return { kind: 'stray', text: isInWord ? '"' : '', next: at + 1 };
  }

  private comment(): { kind: Kind; text: string; next: number } {
    const { header, at } = this;
    if (!this.hasStrayComment) {
      const { text, next, isClosed } = delimited(header, at, ')');
      if (isClosed || !header.includes('@', at)) return { kind: 'comment', text, next };
      this.hasStrayComment = true;
    }
    const flat = matchAt(FLAT_COMMENT, header, at);
    if (flat === undefined) return { kind: 'stray', text: '(', next: at + 1 };
    return { kind: 'comment', text: flat.slice(1, -1), next: at + flat.length };
  }

  /** A domain literal, or words of a name: `[Team, A] Pat <pat@x.example>`. */
  private square(): { kind: Kind; text: string; next: number } {
    const { header, at, tokens } = this;
    const previous = tokens.findLast(({ kind }) => kind !== 'comment');
    if (previous && isAt(previous)) {
      const literal = matchAt(DOMAIN_LITERAL, header, at) ?? '[';
      return { kind: 'literal', text: literal.replace(/^\[|\]$/g, ''), next: at + literal.length };
    }
    const words = matchAt(SQUARE, header, at);
    if (words === undefined || !this.isWhole(words)) return { kind: 'stray', text: '[', next: at + 1 };
    return { kind: 'atom', text: words, next: at + words.length };
  }

  /** Whether a strict reader, too, finds neither an address nor the beginning of a quoted string or comment in the words. */
  private isWhole(words: string): boolean {
    return !this.isStrict || (!INNER_ADDRESS.test(words) && isBalanced(words));
  }
}

/** @param pattern sticky */
function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** True for a text in which each quoted string and each comment ends. */
function isBalanced(text: string): boolean {
  for (let at = 0; at < text.length;) {
    const close = text.charAt(at) === '"' ? '"' : text.charAt(at) === '(' ? ')' : '';
    const { next, isClosed } = close === '' ? { next: at + 1, isClosed: true } : delimited(text, at, close);
    if (!isClosed) return false;
    at = next;
  }
  return true;
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
function delimited(
  header: string,
  at: number,
  close: string,
): { text: string; next: number; isClosed: boolean } {
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
      if (depth === 0) return { text, next: next + 1, isClosed: true };
    }
    text += character;
  }
  return { text, next, isClosed: false };
}
