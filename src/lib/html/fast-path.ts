import { DATA_ATTRIBUTE, GLOBAL_ATTRIBUTES, TAGS } from './rules.js';
import type { AttributeRule } from './rules.js';
import { safeStyle } from './style.js';

interface FastTag {
  name: string;
  attributes: ReadonlyMap<string, AttributeRule>;
  void: boolean;
  /** Its start tag closes an open paragraph. */
  block: boolean;
  /** Elements of which only one may be open at a time: a second start tag would close the first. */
  single: 'p' | 'a' | 'heading' | undefined;
  /** Parents outside which the parser would ignore the tag or invent a parent that is not implied. */
  parents: ReadonlySet<string> | undefined;
  /** Between the tags of a table: text other than white space would be moved out of it. */
  table: boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const VOID = set('br hr img wbr col input');
const INLINE = set(
  'span br code kbd samp var b strong i em u s del ins sub sup small mark abbr cite q time img a bdi bdo wbr label input',
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

/** Ruby is left to the parser: its parts close each other in ways not worth repeating here. */
const SLOW = set('ruby rt rp');

const FAST_TAGS: ReadonlyMap<string, FastTag> = new Map(
  [...TAGS].filter(([name]) => !SLOW.has(name)).map(([name, own]) => [name, describe(name, own)]),
);

/** Implied elements and one text per tag stay far below the limits of html-tree.ts with these. */
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
 * Whether a text is clean beyond doubt, in one pass without building a tree: lower-case allowed tags, properly nested and
 * closed, attributes in double quotes and allowed by the same table the sanitizer works from. It understands so little of
 * HTML that the tags it accepts are the tree; `false` means only that the parser has to look.
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

  /** An end tag has to name the innermost open element. */
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

  /** The double-quoted value at hand, `''` without one, undefined when it is written in any other way. */
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

  /** The lower-case name that begins at an offset. */
  private word(from: number): string {
    let end = from;
    for (; end < from + 120; end++) {
      const code = this.html.charCodeAt(end);
      if (!((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45)) break;
    }
    return this.html.slice(from, end);
  }
}

/** Values under a rule must be written without character references, so that the rule sees what the parser would. */
function isHarmless(tag: FastTag, name: string, value: string): boolean {
  const rule = tag.attributes.get(name);
  if (rule === undefined) return DATA_ATTRIBUTE.test(name);
  if (name === 'style') return !value.includes('&') && safeStyle(value) === value;
  if (!(rule instanceof RegExp)) return true;
  if (name === 'rel') return value.split(' ').every((word) => rule.test(word));
  return rule.test(value) && (!value.includes('&') || /^https?:/.test(value));
}
