const COLOR = String.raw`#[0-9a-f]{3,8}|[a-z]{3,24}|(?:rgb|hsl)a?\([0-9.,%/ ]{1,40}\)|var\(--[\w-]{1,64}\)`;
const LENGTH = String.raw`\d{1,4}(?:\.\d{1,6})?(?:px|pt|pc|em|rem|ex|ch|cm|mm|in|%)|0`;
const WORDS = String.raw`[a-z-]{3,20}(?: [a-z-]{3,20}){0,3}`;

const rule = (values: string): RegExp => new RegExp(`^(?:${values})$`, 'i');

/** Properties that change the appearance of text, but not its position on the page of the application. */
const DECLARATIONS: ReadonlyMap<string, RegExp> = new Map([
  ['color', rule(COLOR)],
  ['background-color', rule(COLOR)],
  ['text-align', rule('left|right|center|justify|start|end')],
  ['font-weight', rule(String.raw`normal|bold|bolder|lighter|\d{1,4}`)],
  ['font-style', rule('normal|italic|oblique')],
  ['text-decoration', rule(WORDS)],
  ['text-decoration-line', rule(WORDS)],
  ['font-size', rule(`${LENGTH}|(?:xx?-)?small|medium|(?:x{1,3}-)?large|smaller|larger`)],
  ['width', rule(`auto|${LENGTH}`)],
  ['min-width', rule(`auto|${LENGTH}`)],
  ['height', rule(`auto|${LENGTH}`)],
  ['margin-left', rule(`auto|${LENGTH}`)],
  ['padding-left', rule(LENGTH)],
  ['vertical-align', rule(`baseline|sub|super|top|text-top|middle|bottom|text-bottom|${LENGTH}`)],
  ['list-style-type', rule('[a-z-]{3,32}')],
]);

/** CSS beyond flat `name: value` pairs: escapes, comments, strings, at-rules, blocks. It is rejected, not parsed. */
const NOT_FLAT = /[\\@"'<>{}!\0]|\/\*/;

/**
 * Returns the allowed declarations of a `style` attribute in their order: the input itself when all are allowed, `''` when none
 * is. A value that is not flat CSS is dropped as a whole, because browsers may parse it differently.
 */
export function safeStyle(style: string): string {
  if (NOT_FLAT.test(style)) return '';
  const kept: string[] = [];
  let dropped = false;
  for (const declaration of style.split(';')) {
    const text = declaration.trim();
    if (text === '') continue;
    if (isAllowed(text)) kept.push(text);
    else dropped = true;
  }
  return dropped ? kept.join('; ') : style;
}

function isAllowed(declaration: string): boolean {
  const colon = declaration.indexOf(':');
  if (colon < 0) return false;
  const values = DECLARATIONS.get(declaration.slice(0, colon).trimEnd().toLowerCase());
  return values !== undefined && values.test(declaration.slice(colon + 1).trimStart());
}
