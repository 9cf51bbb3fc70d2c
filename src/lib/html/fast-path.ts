import { DATA_ATTRIBUTE, GLOBAL_ATTRIBUTES, TAGS } from './rules.js';
import type { AttributeRule } from './rules.js';
import { safeStyle } from './style.js';

interface FastTag {
  name: string;
  attributes: ReadonlyMap<string, AttributeRule>;
  void: boolean;
  /** The start tag closes an open paragraph. */
  block: boolean;
  /** Elements that cannot be nested: a second start tag closes the first. */
  single: 'p' | 'a' | 'heading' | undefined;
  /** Required parents. Elsewhere the parser ignores the tag or creates a parent. */
  parents: ReadonlySet<string> | undefined;
  /** Structure of a table: the parser moves text other than white space out of it. */
  table: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const VOID = set('br hr img wbr col input');
const INLINE = set(
  'span br code kbd samp tt var b strong i em u s strike del ins sub sup small big mark font abbr acronym cite dfn q time img a ' +
    'bdi bdo wbr label input',
);
const TABLE_CONTEXT = set('table colgroup thead tbody tfoot tr');
const PARENTS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['li', set('ul ol')],
  ['dt', set('dl')],
  ['dd', set('dl')],
  ['caption', set('table')],
  ['colgroup', set('table')],
  ['thead', set('table')],
  ['tbody', set('table')],
  ['tfoot', set('table')],
  ['tr', set('table thead tbody tfoot')],
  ['td', set('tr')],
  ['th', set('tr')],
  ['col', set('table colgroup')],
]);

/** The parser handles ruby: its parts close each other by complicated rules. */
const SLOW = set('ruby rt rp');

const FAST_TAGS: ReadonlyMap<string, FastTag> = new Map(
  [...TAGS].filter(([name]) => !SLOW.has(name)).map(([name, own]) => [name, describe(name, own)]),
);

/** With these limits, implied elements and one text per tag stay below the limits of tree.ts. */
const MAX_TAGS = 20_000;
const MAX_OPEN = 100;

const WHITE = /^[\t\n\f\r ]*$/;
const SLASH = 47;
const SPACE = 32;
const GREATER_THAN = 62;

function describe(name: string, own: ReadonlyMap<string, AttributeRule>): FastTag {
  const single = name === 'p' || name === 'a' ? name : /^h[1-6]$/.test(name) ? 'heading' : undefined;
  return {
    name,
    attributes: new Map([...GLOBAL_ATTRIBUTES, ...own]),
    void: VOID.has(name),
    block: !INLINE.has(name),
    single,
    parents: PARENTS.get(name),
    table: TABLE_CONTEXT.has(name),
  };
}

/**
 * Checks in one pass, without a tree, whether a text is clean: allowed lower-case tags, properly nested and closed, with
 * double-quoted attributes that the table of the sanitizer allows. It accepts only HTML whose tags match the
 * elements of its tree one to one. `false` means unknown: the parser must decide.
 */
export function isPlainlyClean(html: string): boolean {
  return !html.includes('\0') && new Scan(html).run();
}

class Scan {
  private at = 0;
  private readonly open: FastTag[] = [];
  private readonly single = { p: false, a: false, heading: false };

  constructor(private readonly html: string) {}

  run(): boolean {
    const { html, open } = this;
    for (let tags = 0; tags <= MAX_TAGS; tags++) {
      const start = html.indexOf('<', this.at);
      const end = start < 0 ? html.length : start;
      if (open.at(-1)?.table && !WHITE.test(html.slice(this.at, end))) return false;
      if (start < 0) return open.length === 0;
      this.at = start + 1;
      if (!(html.charCodeAt(this.at) === SLASH ? this.close() : this.start())) return false;
    }
    return false;
  }

  /** An end tag must match the innermost open element. */
  private close(): boolean {
    const tag = this.open.pop();
    if (!tag || !this.html.startsWith(`${tag.name}>`, this.at + 1)) return false;
    this.at += tag.name.length + 2;
    if (tag.single) this.single[tag.single] = false;
    return true;
  }

  private start(): boolean {
    const tag = FAST_TAGS.get(this.word(this.at));
    if (!tag || !this.mayOpen(tag)) return false;
    this.at += tag.name.length;
    if (!this.attributes(tag)) return false;
    if (tag.void) return true;
    if (tag.single) this.single[tag.single] = true;
    this.open.push(tag);
    return this.open.length <= MAX_OPEN;
  }

  private mayOpen(tag: FastTag): boolean {
    const parent = this.open.at(-1);
    if (tag.parents) {
      if (!parent || !tag.parents.has(parent.name)) return false;
    } else if (parent?.table) {
      return false;
    }
    return !(tag.block && this.single.p) && !(tag.single && this.single[tag.single]);
  }

  /** Reads up to and including the `>`. */
  private attributes(tag: FastTag): boolean {
    const { html } = this;
    let checkbox = false;
    for (;;) {
      const code = html.charCodeAt(this.at);
      if (code === GREATER_THAN) {
        this.at++;
        return tag.name !== 'input' || checkbox;
      }
      if (tag.void && (html.startsWith('/>', this.at) || html.startsWith(' />', this.at))) {
        this.at += code === SLASH ? 1 : 2;
        continue;
      }
      if (code !== SPACE) return false;
      const name = this.word(this.at + 1);
      if (name === '') return false;
      this.at += name.length + 1;
      const value = this.value();
      if (value === undefined || !isHarmless(tag, name, value)) return false;
      if (name === 'type') checkbox = true;
    }
  }

  /** @returns the double-quoted value, `''` without a value, undefined for any other syntax */
  private value(): string | undefined {
    const { html } = this;
    const code = html.charCodeAt(this.at);
    if (code === SPACE || code === GREATER_THAN) return '';
    if (!html.startsWith('="', this.at)) return undefined;
    const end = html.indexOf('"', this.at + 2);
    if (end < 0) return undefined;
    const value = html.slice(this.at + 2, end);
    this.at = end + 1;
    return value;
  }

  /** @returns the lower-case name at an offset */
  private word(from: number): string {
    let end = from;
    for (; end < from + 120; end++) {
      const code = this.html.charCodeAt(end);
      if (!((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45)) break;
    }
    return this.html.slice(from, end);
  }
}

/** Values with a rule must not contain character references, because the parser would decode them. */
function isHarmless(tag: FastTag, name: string, value: string): boolean {
  const rule = tag.attributes.get(name);
  if (rule === undefined) return DATA_ATTRIBUTE.test(name);
  if (name === 'style') return !value.includes('&') && safeStyle(value) === value;
  if (!(rule instanceof RegExp)) return true;
  if (name === 'rel') return value.split(' ').every((word) => rule.test(word));
  return rule.test(value) && (!value.includes('&') || /^https?:/.test(value));
}
