const PLAIN_COLOR = String.raw`#[0-9a-f]{3,8}|[a-z]{3,24}|(?:rgba?|hsla?|hwb|(?:ok)?lab|(?:ok)?lch|color)\([\w.,%/ +-]{1,80}\)`;
/** A colour, as CSS writes it (CSS Color 5). */
export const COLOR =
  String.raw`${PLAIN_COLOR}|var\(--[\w-]{1,64}(?:, ?(?:${PLAIN_COLOR}))?\)|light-dark\((?:${PLAIN_COLOR}), ?(?:${PLAIN_COLOR})\)|` +
  String.raw`color-mix\(in [a-z\d -]{3,40}(?:, ?(?:${PLAIN_COLOR})(?: [\d.]{1,8}%)?){2}\)`;
/** Notion and editors that compute write the 16 digits of a double. */
const DECIMALS = String.raw`\.\d{1,18}`;
const NUMBER = String.raw`(?:\d{1,4}(?:${DECIMALS})?|${DECIMALS})`;
const UNIT = 'px|pt|pc|em|rem|ex|ch|cm|mm|in';
const LENGTH = `${NUMBER}(?:${UNIT}|vw|%)|0`;
/** Lengths that may be negative are short: a line that begins far outside is invisible. */
const SHIFT = String.raw`-?(?:\d{1,3}(?:${DECIMALS})?|${DECIMALS})(?:${UNIT})|\d{1,3}(?:${DECIMALS})?%|0`;
/** Two lengths, so that a sum has the bounds of both. */
const CALCULATION = `calc\\((?:${LENGTH}) [+-] (?:${LENGTH})\\)`;
const SIZE = `auto|(?:min|max|fit)-content|${LENGTH}|${CALCULATION}`;
const WORDS = String.raw`[a-z-]{3,20}(?: [a-z-]{3,20}){0,3}`;
const LINE_STYLE = 'none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset';
const LINE_WIDTH = `thin|medium|thick|${LENGTH}`;
const BREAK = '(?:avoid-)?(?:page|column)|auto|avoid|always|left|right|recto|verso';
/** A name between quotes has nothing that ends a declaration. */
const FONT = String.raw`[\p{L}\p{N}_-]{1,64}(?: [\p{L}\p{N}_-]{1,64}){0,7}|"[\p{L}\p{N} _.,+&()'-]{1,64}"|'[\p{L}\p{N} _.,+&()-]{1,64}'`;

const rule = (values: string): RegExp => new RegExp(`^(?:${values})$`, 'iu');

const list = (value: string, separator: string, max: number): string =>
  `(?:${value})(?:${separator}(?:${value})){0,${max - 1}}`;
/** Values for one to four sides. */
const sides = (value: string): string => list(value, ' ', 4);
/** Allows the same values for a property and for each side. */
const eachSide = (before: string, after: string, values: string): [string, string][] =>
  ['top', 'right', 'bottom', 'left', 'inline-start', 'inline-end', 'block-start', 'block-end'].map((side) => [
    `${before}-${side}${after}`,
    values,
  ]);
const SHADOW = `none|${list(`${SHIFT}|${COLOR}`, ' ', 4)}`;
/** Images are not allowed. Browsers copy a colour with the initial values of the other properties. */
const BACKGROUND = list(`${COLOR}|[a-z]{2,12}(?:-[a-z]{1,8}){1,2}|${LENGTH}|/`, ' ', 12);
const BORDER = list(`${LINE_WIDTH}|${LINE_STYLE}|${COLOR}`, ' ', 3);

const FONT_SIZE = `${LENGTH}|${CALCULATION}|(?:xx?-)?small|medium|(?:x{1,3}-)?large|smaller|larger`;
const LINE_HEIGHT = `normal|${NUMBER}|${LENGTH}`;

/** Properties that change the appearance of text, but not its position on the page of the application. */
const VALUES: [property: string, values: string][] = [
  ['color', COLOR],
  ['background-color', COLOR],
  ['background', BACKGROUND],
  ['opacity', String.raw`[01]|0?\.\d{1,6}|\d{1,3}%`],
  [
    'text-align',
    'left|right|center|justify|start|end|match-parent|-(?:webkit|moz|khtml)-(?:left|right|center)',
  ],
  ['text-align-last', 'auto|left|right|center|justify|start|end'],
  ['font-family', list(FONT, ', ?', 12)],
  [
    'font',
    `(?:(?:normal|italic|oblique|small-caps|bold|bolder|lighter|[1-9]00) ){0,4}(?:${FONT_SIZE})(?: ?/ ?(?:${LINE_HEIGHT}))? ${list(FONT, ', ?', 12)}`,
  ],
  ['font-weight', String.raw`normal|bold|bolder|lighter|\d{1,4}`],
  ['font-style', 'normal|italic|oblique'],
  ['font-variant', WORDS],
  ['font-variant-caps', WORDS],
  ['font-variant-numeric', WORDS],
  ['font-stretch', '[a-z-]{6,15}'],
  ['font-size', FONT_SIZE],
  ['line-height', LINE_HEIGHT],
  ['letter-spacing', `normal|${SHIFT}`],
  ['word-spacing', `normal|${SHIFT}`],
  ['text-indent', SHIFT],
  ['text-transform', 'none|capitalize|uppercase|lowercase|full-width'],
  ['text-decoration', list(`[a-z-]{3,20}|${LENGTH}|${COLOR}`, ' ', 5)],
  ['text-decoration-line', WORDS],
  ['text-decoration-style', 'solid|double|dotted|dashed|wavy'],
  ['text-decoration-color', COLOR],
  ['text-decoration-thickness', `auto|from-font|${LENGTH}`],
  ['text-underline-offset', `auto|${LENGTH}`],
  ['text-shadow', SHADOW],
  ['box-shadow', SHADOW],
  ['white-space', 'normal|nowrap|pre|pre-wrap|pre-line|break-spaces'],
  // Chrome copies it in place of `white-space`.
  ['white-space-collapse', 'collapse|preserve|preserve-breaks|preserve-spaces|break-spaces'],
  ['word-break', 'normal|break-all|keep-all|break-word'],
  ['overflow-wrap', 'normal|break-word|anywhere'],
  ['word-wrap', 'normal|break-word|anywhere'],
  ['hyphens', 'none|manual|auto'],
  ['tab-size', `${LENGTH}|\\d{1,2}`],
  ['direction', 'ltr|rtl'],
  ['unicode-bidi', 'normal|embed|isolate|plaintext'],
  ['writing-mode', '(?:horizontal|vertical|sideways)-(?:tb|rl|lr)'],
  ['width', SIZE],
  ['min-width', SIZE],
  ['max-width', `none|${SIZE}`],
  ['height', SIZE],
  ['min-height', SIZE],
  ['max-height', `none|${SIZE}`],
  ['margin', sides(`auto|${LENGTH}`)],
  ...eachSide('margin', '', `auto|${LENGTH}`),
  ['padding', sides(LENGTH)],
  ...eachSide('padding', '', LENGTH),
  ['border', BORDER],
  ...eachSide('border', '', BORDER),
  ['border-width', sides(LINE_WIDTH)],
  ...eachSide('border', '-width', LINE_WIDTH),
  ['border-style', sides(LINE_STYLE)],
  ...eachSide('border', '-style', LINE_STYLE),
  ['border-color', sides(COLOR)],
  ...eachSide('border', '-color', COLOR),
  ['border-radius', sides(LENGTH)],
  ['border-collapse', 'collapse|separate'],
  ['border-spacing', list(LENGTH, ' ', 2)],
  ['float', 'none|left|right|inline-start|inline-end'],
  ['clear', 'none|left|right|both|inline-start|inline-end'],
  ['columns', list(String.raw`auto|\d{1,2}|${LENGTH}`, ' ', 2)],
  ['column-count', String.raw`auto|\d{1,2}`],
  ['column-width', `auto|${LENGTH}`],
  ['column-gap', `normal|${LENGTH}`],
  ['column-rule', BORDER],
  ['table-layout', 'auto|fixed'],
  ['caption-side', 'top|bottom'],
  ['empty-cells', 'show|hide'],
  ['vertical-align', `baseline|sub|super|top|text-top|middle|bottom|text-bottom|${LENGTH}|${SHIFT}`],
  ['list-style-type', '[a-z-]{3,32}'],
  ['list-style-position', 'inside|outside'],
  ['list-style', list('[a-z-]{3,32}', ' ', 2)],
  ['page-break-before', BREAK],
  ['page-break-after', BREAK],
  ['page-break-inside', 'auto|avoid'],
  ['break-before', BREAK],
  ['break-after', BREAK],
  ['break-inside', '(?:avoid-)?(?:page|column)|auto|avoid'],
  ['orphans', String.raw`\d{1,2}`],
  ['widows', String.raw`\d{1,2}`],
];
const DECLARATIONS: ReadonlyMap<string, RegExp> = new Map(
  VALUES.map(([property, values]) => [property, rule(values)]),
);

/**
 * The parts of a list of declarations (CSS Syntax 3, 5.4.6): comments, strings, escapes, `url()` without quotes, and single characters that
 * open, close or separate. A string ends at a line break. Each alternative begins with another character, so the time is linear.
 */
const PARTS =
  /\/\*[^]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[^])*["\n]?|'(?:[^'\\\n]|\\[^])*['\n]?|\\[^]?|[([{}\])]|;|[^"'\\;()[\]{}/]+|\//gu;
/** What a list of declarations may have beside plain declarations. */
const NESTED = /["'\\([{]|\/\*/;
const OPENING = new Set(['(', '[', '{']);
const CLOSING = new Set([')', ']', '}']);
const IMPORTANT = /^\s*important$/i;

/**
 * Returns the allowed declarations of a `style` attribute in their order: the input itself when all are allowed, `''` when none
 * is. An allowed declaration is a name and a value of its list, without comments and escapes, so that each browser parses the result alike.
 */
export function safeStyle(style: string): string {
  const kept: string[] = [];
  const declarations = declarationsOf(style);
  let dropped = declarations.join(';') !== style;
  for (const declaration of declarations) {
    const text = declaration.trim();
    if (text === '') continue;
    const plain = withoutPriority(text);
    const isKept = isAllowed(plain);
    if (isKept) kept.push(plain);
    dropped ||= !isKept || plain !== text;
  }
  return dropped ? kept.join('; ') : style;
}

/** Splits a `style` attribute at the semicolons outside strings, comments and blocks. A comment becomes a blank. */
function declarationsOf(style: string): string[] {
  if (!NESTED.test(style)) return style.split(';');
  const declarations: string[] = [];
  let declaration = '';
  let depth = 0;
  for (const [part] of style.matchAll(PARTS)) {
    if (part === ';' && depth === 0) {
      declarations.push(declaration);
      declaration = '';
      continue;
    }
    if (OPENING.has(part)) depth += 1;
    else if (CLOSING.has(part)) depth = Math.max(0, depth - 1);
    declaration += part.startsWith('/*') ? ' ' : part;
  }
  return [...declarations, declaration];
}

/** The declaration without `!important`, by which it would win over the styles of the application. */
function withoutPriority(declaration: string): string {
  const mark = declaration.lastIndexOf('!');
  return mark >= 0 && IMPORTANT.test(declaration.slice(mark + 1))
    ? declaration.slice(0, mark).trimEnd()
    : declaration;
}

function isAllowed(declaration: string): boolean {
  const colon = declaration.indexOf(':');
  if (colon < 0) return false;
  const values = DECLARATIONS.get(declaration.slice(0, colon).trimEnd().toLowerCase());
  return (
    values !== undefined &&
    values.test(
      declaration
        .slice(colon + 1)
        .trimStart()
        .replace(IMPORTANT, ''),
    )
  );
}
