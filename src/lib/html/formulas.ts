import type { Element, ElementContent } from 'hast';

type Content = ElementContent[];

/** The name of an element of MathML; XHTML and Word write it with a prefix. */
const nameOf = ({ tagName }: Element): string => tagName.replace(/^(?:m|mml):/, '');

export const isFormula = (element: Element): boolean => nameOf(element) === 'math';

const textNode = (value: string): ElementContent => ({ type: 'text', value });
const elementNode = (tagName: 'sub' | 'sup' | 'br', children: Content = []): ElementContent => ({
  type: 'element',
  tagName,
  properties: {},
  children,
});
const attribute = (element: Element, name: string): string | undefined => {
  const value = element.properties[name];
  return value === undefined || value === null ? undefined : String(value);
};

const LEAVES = new Set(['mi', 'mn', 'mo', 'mtext', 'ms']);
/** Elements that are not shown: other forms of the formula, and space of its size. */
const NOT_SHOWN = new Set(['annotation', 'annotation-xml', 'mphantom', 'none', 'mprescripts', 'mglyph']);
/** Operators without a glyph. */
const INVISIBLE = /[\u2061-\u2064]/g;
/** Combining characters in place of accents above a letter. */
const ACCENTS: ReadonlyMap<string, string> = new Map([
  ...['\u00af', '\u203e', '\u2015', '_'].map((mark) => [mark, '\u0304'] as const),
  ...['^', '\u02c6'].map((mark) => [mark, '\u0302'] as const),
  ...['~', '\u02dc', '\u223c'].map((mark) => [mark, '\u0303'] as const),
  ['\u02d9', '\u0307'],
  ['\u00a8', '\u0308'],
  ['\u2192', '\u20d7'],
  ['\u20d7', '\u20d7'],
]);

/**
 * A formula (MathML Core) as text in one line, with subscripts and superscripts: `x<sup>2</sup>/(y+1)`. Readers without the display of
 * formulas see it, and a search finds it.
 * @param others the content in place of elements that are not MathML
 */
export function formulaText(formula: Element, others: (element: Element) => Content): Content {
  const line = new Line(others).row(formula);
  return attribute(formula, 'display') === 'block' ? [textNode(' '), ...line, textNode(' ')] : line;
}

class Line {
  constructor(private readonly others: (element: Element) => Content) {}

  /** The children one after another. A fraction beside an operand has brackets: 2(1/3). */
  row(parent: Element): Content {
    const parts = partsOf(parent);
    return parts.flatMap((part, n) => {
      const isBeside = isOperand(parts[n - 1]) || isOperand(parts[n + 1]);
      const content = this.of(part);
      return isBeside && part.type === 'element' && nameOf(part) === 'mfrac' ? bracketed(content) : content;
    });
  }

  private of(node: ElementContent | undefined): Content {
    if (node?.type === 'text') return [textNode(node.value.replaceAll(/[\t\n\f\r ]+/g, ' ').trim())];
    if (node?.type !== 'element') return [];
    const name = nameOf(node);
    if (LEAVES.has(name)) return this.leaf(node);
    if (NOT_SHOWN.has(name)) return [];
    const parts = partsOf(node);
    const [first, second, third] = parts;
    switch (name) {
      case 'math':
      case 'mrow':
      case 'mstyle':
      case 'mpadded':
      case 'merror':
      case 'mtd':
        return this.row(node);
      case 'semantics':
      case 'maction':
        return this.of(first);
      case 'mfrac':
        return this.fraction(node, first, second);
      case 'menclose':
        return attribute(node, 'notation') === 'radical' ? root(this.row(node)) : this.row(node);
      case 'msqrt':
        return root(this.row(node));
      case 'mroot':
        return [elementNode('sup', this.of(second)), ...root(this.of(first))];
      case 'msub':
      case 'munder':
        return [...this.of(first), ...this.script('sub', second)];
      case 'msup':
        return [...this.of(first), ...this.script('sup', second)];
      case 'mover':
        return this.over(first, second);
      case 'msubsup':
      case 'munderover':
        return [...this.of(first), ...this.script('sub', second), ...this.script('sup', third)];
      case 'mmultiscripts':
        return this.scripts(parts);
      case 'mtable':
        return separated(
          parts.map((part) => this.of(part)),
          '; ',
        );
      case 'mtr':
      case 'mlabeledtr':
        return separated(
          parts.map((part) => this.of(part)),
          ' ',
        );
      case 'mfenced':
        return this.fenced(node, parts);
      case 'mspace':
        return attribute(node, 'linebreak') === 'newline' ? [elementNode('br')] : [textNode(' ')];
      default:
        return this.others(node);
    }
  }

  private leaf(element: Element): Content {
    return element.children.flatMap((child): Content => {
      if (child.type === 'element') return this.others(child);
      const text = child.type === 'text' ? child.value.replaceAll(/[\t\n\f\r ]+/g, ' ') : '';
      return [textNode(nameOf(element) === 'mtext' ? text : text.replaceAll(INVISIBLE, '').trim())];
    });
  }

  private fraction(
    element: Element,
    above: ElementContent | undefined,
    below: ElementContent | undefined,
  ): Content {
    const [over, under] = [this.of(above), this.of(below)];
    // Without its line it is a binomial coefficient, between brackets of its own.
    if (/^0(?![.\d])/.test(attribute(element, 'linethickness') ?? ''))
      return [...over, textNode(' '), ...under];
    return [...operand(over), textNode('/'), ...operand(under)];
  }

  private over(base: ElementContent | undefined, mark: ElementContent | undefined): Content {
    const content = this.of(base);
    const [first] = content;
    const accent = ACCENTS.get(plainOf(this.of(mark)));
    return accent && content.length === 1 && first?.type === 'text' && [...first.value].length === 1
      ? [textNode((first.value + accent).normalize('NFC'))]
      : [...content, ...this.script('sup', mark)];
  }

  private scripts([base, ...parts]: ElementContent[]): Content {
    const at = parts.findIndex((part) => part.type === 'element' && nameOf(part) === 'mprescripts');
    const after = at < 0 ? parts : parts.slice(0, at);
    const before = at < 0 ? [] : parts.slice(at + 1);
    const pairs = (scripts: ElementContent[]): Content =>
      scripts.flatMap((script, n) => this.script(n % 2 === 0 ? 'sub' : 'sup', script));
    return [...pairs(before), ...this.of(base), ...pairs(after)];
  }

  private script(tagName: 'sub' | 'sup', node: ElementContent | undefined): Content {
    const content = this.of(node);
    return plainOf(content) === '' ? [] : [elementNode(tagName, content)];
  }

  private fenced(element: Element, parts: ElementContent[]): Content {
    const marks = [...(attribute(element, 'separators') ?? ',').replaceAll(/\s/g, '')];
    const content = parts.flatMap((part, n) => {
      const mark = n === 0 ? undefined : (marks[n - 1] ?? marks.at(-1));
      return [...(mark ? [textNode(mark)] : []), ...this.of(part)];
    });
    const [open, close] = [attribute(element, 'open') ?? '(', attribute(element, 'close') ?? ')'];
    return [textNode(open), ...content, textNode(close)];
  }
}

/** The children without the white space of the source and comments. */
const partsOf = (element: Element): ElementContent[] =>
  element.children.filter(
    (child) => child.type === 'element' || (child.type === 'text' && child.value.trim() !== ''),
  );

/** Whether a part is neither absent nor an operator. */
const isOperand = (part: ElementContent | undefined): boolean =>
  part?.type === 'element' && !['mo', 'mspace', 'mtext'].includes(nameOf(part));

const plainOf = (content: Content): string =>
  content
    .map((node) =>
      node.type === 'text' ? node.value : node.type === 'element' ? plainOf(node.children) : '',
    )
    .join('');

const bracketed = (content: Content): Content => [textNode('('), ...content, textNode(')')];
/** One letter or number, with its scripts. */
const ATOM = /^(?:\p{L}\p{M}*|[\p{N}.,]+)$/u;

const operand = (content: Content): Content => {
  const base = content.filter((node) => node.type !== 'element' || !/^su[bp]$/.test(node.tagName));
  return ATOM.test(plainOf(base)) ? content : bracketed(content);
};

const root = (content: Content): Content => [textNode('\u221a'), ...operand(content)];

const separated = (parts: Content[], separator: string): Content =>
  parts.flatMap((part, n) => (n === 0 ? part : [textNode(separator), ...part]));
