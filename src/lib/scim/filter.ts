import {
  type Attribute,
  type AttributePath,
  byName,
  findPath,
  type Json,
  ScimInputError,
  type Scope,
  scopeOfValues,
  valuesAt,
} from './attributes.js';

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A parsed filter (RFC 7644, section 3.4.2.2). */
export type Filter =
  | { op: 'and' | 'or'; filters: Filter[] }
  | { op: 'not'; filter: Filter }
  | { op: 'pr'; path: AttributePath }
  | { op: Comparison; path: AttributePath; value: string | number | boolean | null }
  | { op: 'some'; path: AttributePath; filter: Filter };

/** The target of a PATCH operation: `attribute`, `attribute.sub`, `attribute[filter]` or `attribute[filter].sub`. */
export interface PatchPath extends AttributePath {
  filter?: Filter;
}

const MAX_LENGTH = 4_096;
const MAX_TOKENS = 400;
const MAX_DEPTH = 16;

/** A bracket, a JSON string (`literal` rejects invalid ones), or a word. */
const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

/** @throws ScimInputError `invalidFilter` */
export function parseFilter(text: string, scope: Scope): Filter {
  const parser = new Parser(text, scope, 'invalidFilter');
  const filter = parser.filter();
  parser.end();
  return filter;
}

/** @throws ScimInputError `invalidPath` */
export function parsePath(text: string, scope: Scope): PatchPath {
  const parser = new Parser(text, scope, 'invalidPath');
  const path = parser.path();
  parser.end();
  return path;
}

/** Recursive descent with limits on length, tokens and depth. */
class Parser {
  private readonly tokens: string[];
  private at = 0;
  private depth = 0;

  constructor(
    text: string,
    private scope: Scope,
    private readonly kind: 'invalidFilter' | 'invalidPath',
  ) {
    if (text.length > MAX_LENGTH) throw this.error(`is longer than ${MAX_LENGTH} characters`);
    this.tokens = this.split(text.trim());
  }

  filter(): Filter {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.error(`is nested deeper than ${MAX_DEPTH} levels`);
    const filters = [this.conjunction()];
    while (this.takeWord('or')) filters.push(this.conjunction());
    this.depth -= 1;
    return filters.length === 1 ? filters[0]! : { op: 'or', filters };
  }

  path(): PatchPath {
    const name = this.word();
    if (this.peek() !== '[') return this.find(name);
    const path: PatchPath = { ...this.find(name), filter: this.valueFilter(name) };
    const rest = this.tokens[this.at];
    if (rest === undefined) return path;
    this.at += 1;
    return { ...path, sub: this.subPath(path.attribute, rest).attribute };
  }

  end(): void {
    const rest = this.peek();
    if (rest !== undefined) throw this.error(`has an unexpected part: ${rest.slice(0, 100)}`);
  }

  private conjunction(): Filter {
    const filters = [this.term()];
    while (this.takeWord('and')) filters.push(this.term());
    return filters.length === 1 ? filters[0]! : { op: 'and', filters };
  }

  private term(): Filter {
    if (this.peek() === '(') return this.group();
    if (this.peek()?.toLowerCase() === 'not' && this.tokens[this.at + 1] === '(') {
      this.at += 1;
      return { op: 'not', filter: this.group() };
    }
    const name = this.word();
    if (this.peek() === '[') return this.some(name);
    return this.comparison(this.find(name));
  }

  /**
   * A condition on one value of a list: `emails[type eq "work" and value co "@x"]`. Microsoft Entra also sends the forms
   * `emails[type eq "work"].value co "@x"`, which RFC 7644 has for paths only, and `emails[type eq "work"] eq "a@x"`; all have the
   * same meaning.
   */
  private some(name: string): Filter {
    const path = this.find(name);
    const filter = this.valueFilter(name);
    const next = this.peek();
    const isSub = next?.startsWith('.') === true;
    if (!isSub && !isComparison(next?.toLowerCase() ?? '')) return { op: 'some', path, filter };
    const sub = this.subPath(path.attribute, isSub ? this.word() : '.value');
    return { op: 'some', path, filter: { op: 'and', filters: [filter, this.comparison(sub)] } };
  }

  private comparison(path: AttributePath): Filter {
    const op = this.word().toLowerCase();
    if (op === 'pr') return { op, path };
    if (!isComparison(op)) throw this.error(`has the unknown operator ${op.slice(0, 20)}`);
    // An object without a named part is compared by its value, as the objects of a list are (RFC 7644, section 3.4.2.2).
    const { attribute, sub = byName(attribute.subAttributes ?? [], 'value') } = path;
    const compared = attribute.multiValued || !sub ? path : { ...path, sub };
    return {
      op,
      path: compared,
      value: trimmed(op, this.value(op, compared), compared.sub ?? compared.attribute),
    };
  }

  /** @param text the part after brackets, such as `.value` */
  private subPath(attribute: Attribute, text: string): AttributePath {
    const sub = text.startsWith('.') ? findPath(scopeOfValues(attribute), text.slice(1)) : undefined;
    if (!sub) throw this.error(`has an unknown part: ${text.slice(0, 100)}`);
    return sub;
  }

  private group(): Filter {
    this.take('(');
    const filter = this.filter();
    this.take(')');
    return filter;
  }

  /** The filter in brackets, whose names are those of the values. */
  private valueFilter(name: string): Filter {
    const { attribute, sub } = this.find(name);
    if (sub || !attribute.multiValued || !attribute.subAttributes)
      throw this.error(`has brackets after ${name.slice(0, 100)}, which is no list of objects`);
    const outer = this.scope;
    this.take('[');
    this.scope = scopeOfValues(attribute);
    const filter = this.filter();
    this.scope = outer;
    this.take(']');
    return filter;
  }

  private value(op: Comparison, { attribute, sub }: AttributePath): string | number | boolean | null {
    const token = this.tokens[this.at];
    if (token === undefined) throw this.error('has no value at its end');
    this.at += 1;
    const value = literal(token);
    if (value === undefined) throw this.error(`has an invalid value: ${token.slice(0, 100)}`);
    const { type } = sub ?? attribute;
    if (type === 'boolean' && !['eq', 'ne'].includes(op)) throw this.error(`compares a boolean by ${op}`);
    if (value === null && !['eq', 'ne'].includes(op)) throw this.error(`compares null by ${op}`);
    if (type === 'dateTime' && value !== null && Number.isNaN(Date.parse(String(value))))
      throw this.error(`has an invalid time: ${token.slice(0, 100)}`);
    return value;
  }

  private find(name: string): AttributePath {
    const found = findPath(this.scope, name);
    if (!found) throw this.error(`has the unknown attribute ${name.slice(0, 100)}`);
    return found;
  }

  private peek(): string | undefined {
    return this.tokens[this.at];
  }

  private takeWord(word: string): boolean {
    if (this.peek()?.toLowerCase() !== word) return false;
    this.at += 1;
    return true;
  }

  private take(token: string): void {
    if (this.peek() !== token) throw this.error(`has no ${token} where one is expected`);
    this.at += 1;
  }

  private word(): string {
    const token = this.peek();
    if (token === undefined || /^[()[\]"]/.test(token)) throw this.error('has no name where one is expected');
    this.at += 1;
    return token;
  }

  private split(text: string): string[] {
    const tokens: string[] = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const start = TOKEN.lastIndex;
      const found = TOKEN.exec(text);
      if (!found) throw this.error(`has an invalid part: ${text.slice(start, start + 100)}`);
      tokens.push((found[1] ?? found[2] ?? found[3])!);
      if (tokens.length > MAX_TOKENS) throw this.error(`has more than ${MAX_TOKENS} parts`);
    }
    return tokens;
  }

  private error(reason: string): ScimInputError {
    const name = this.kind === 'invalidFilter' ? 'The filter' : 'The path';
    return new ScimInputError(this.kind, `${name} ${reason}.`);
  }
}

/** A text that is compared as a whole has the form in which the service stores it. */
function trimmed<T>(op: Comparison, value: T, { isTrimmed }: Attribute): T | string {
  const isPart = op === 'co' || op === 'sw' || op === 'ew';
  return isTrimmed && !isPart && typeof value === 'string' ? value.trim() : value;
}

const isComparison = (op: string): op is Comparison => (COMPARISONS as readonly string[]).includes(op);

/**
 * A JSON literal: string, number, true, false or null, the words in any case. Strings with half of a surrogate pair or U+0000 are
 * invalid, because a PATCH may store the value and the database cannot.
 */
function literal(token: string): string | number | boolean | null | undefined {
  const word = token.startsWith('"') ? token : token.toLowerCase();
  try {
    const value: unknown = JSON.parse(word);
    if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) return undefined;
    return typeof value === 'object' && value !== null
      ? undefined
      : (value as string | number | boolean | null);
  } catch {
    return undefined;
  }
}

/** Whether a resource, or a value of a list, matches a filter that was parsed for it. */
export function matches(filter: Filter, resource: Json): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((each) => matches(each, resource));
    case 'or':
      return filter.filters.some((each) => matches(each, resource));
    case 'not':
      return !matches(filter.filter, resource);
    case 'pr':
      return valuesAt(resource, filter.path).some((value) => !isEmpty(value));
    case 'some':
      return valuesAt(resource, filter.path).some((value) => matches(filter.filter, value as Json));
    default:
      return compares(filter, resource);
  }
}

type Comparing = Extract<Filter, { value: unknown }>;

function compares({ op, path, value: wanted }: Comparing, resource: Json): boolean {
  // A list of objects is compared by its values (RFC 7643, section 2.4).
  const isList = path.attribute.multiValued === true && path.sub === undefined;
  const value = isList && path.attribute.subAttributes?.find(({ name }) => name === 'value');
  const at = value ? { ...path, sub: value } : path;
  const values = valuesAt(resource, at);
  const attribute = at.sub ?? at.attribute;
  if (wanted === null) return (values.length === 0) === (op === 'eq');
  if (op === 'ne') return !values.some((each) => holds('eq', each, wanted, attribute));
  return values.some((each) => holds(op, each, wanted, attribute));
}

function holds(op: Comparison, value: unknown, wanted: unknown, attribute: Attribute): boolean {
  const [left, right] = [toComparable(value, attribute), toComparable(wanted, attribute)];
  if (op === 'eq') return left === right;
  if (op === 'co' || op === 'sw' || op === 'ew') return contains(op, String(left), String(right));
  if (typeof left !== typeof right) return false;
  const order = left < right ? -1 : left > right ? 1 : 0;
  return { gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0, ne: order !== 0 }[op];
}

function contains(op: 'co' | 'sw' | 'ew', text: string, part: string): boolean {
  if (op === 'co') return text.includes(part);
  return op === 'sw' ? text.startsWith(part) : text.endsWith(part);
}

/** A value in the form in which filters compare it. */
export function toComparable(value: unknown, { type, caseExact }: Attribute): string | number | boolean {
  if (type === 'dateTime') return Date.parse(String(value));
  if (typeof value === 'string' && type === 'boolean') return value.toLowerCase() === 'true';
  if (typeof value === 'string') return caseExact ? value : value.toLowerCase();
  return value as number | boolean;
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  (typeof value === 'object' && value !== null && Object.values(value).every((each) => isEmpty(each)));
