import type { Element } from 'hast';
import { attribute, declarations, hexColor, pixels, twips } from './css.js';
import { wVal } from './xml.js';

/** The script classes of Word. */
export type Script = 'plain' | 'rtl' | 'complex' | 'chinese' | 'japanese' | 'korean';

export type Direction = 'ltr' | 'rtl';

interface Segment {
  text: string;
  script: Script;
}

const extensions = (names: string): string =>
  names
    .split(' ')
    .map((name) => String.raw`\p{scx=${name}}`)
    .join('');

const RTL = extensions('Arab Hebr Syrc Thaa Nkoo Adlm Samr Mand Rohg');
/** Left-to-right scripts for which Word uses the "complex script" font, size and weight. */
const COMPLEX = extensions('Thai Laoo Khmr Mymr Tibt Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh');
const EAST_ASIAN = `${extensions('Han Hira Kana Hang Bopo')}\\u3000-\\u303F\\uFF00-\\uFFEF`;

/** Runs of one script. White space, digits and punctuation between two right-to-left runs belong to them. */
const STRETCH = new RegExp(
  `([${RTL}](?:[^\\p{L}]{0,64}?[${RTL}])*)|([${COMPLEX}](?:[^\\p{L}]{0,64}?[${COMPLEX}])*)|([${EAST_ASIAN}]+)`,
  'gu',
);

const HANGUL = /\p{scx=Hang}/u;
const KANA = /[\p{sc=Hira}\p{sc=Kana}]/u;
const STRONG = /\p{L}/u;
const STRONG_RTL = new RegExp(`^[${RTL}]`, 'u');
const WORDS = /[\p{L}\p{N}]+/gu;
/** Text without these characters is Latin, which is the usual case. */
const BEYOND_LATIN = /[^\u0000-\u058F]/u; // oxlint-disable-line no-control-regex -- a range, not a character

/** The direction of the first letter, for text without `dir`; undefined without letters. */
export function firstStrong(text: string): Direction | undefined {
  const letter = STRONG.exec(text)?.[0];
  return letter === undefined ? undefined : STRONG_RTL.test(letter) ? 'rtl' : 'ltr';
}

/**
 * Splits a text where Word needs another font or direction.
 *
 * @param around direction of the paragraph, for neutral characters (digits, brackets)
 * @param language of the text, if known: Chinese, Japanese and Korean share their ideographs
 */
export function segments(text: string, around: Direction | undefined, language?: string): Segment[] {
  const found: Segment[] = [];
  const between = (part: string): void => void found.push(...otherScripts(part, around));
  if (!BEYOND_LATIN.test(text)) {
    between(text);
    return found;
  }
  let end = 0;
  for (const match of text.matchAll(STRETCH)) {
    const [stretch, rtl, complex] = match;
    if (match.index > end) between(text.slice(end, match.index));
    found.push({ text: stretch, script: rtl ? 'rtl' : complex ? 'complex' : eastAsian(stretch, language) });
    end = match.index + stretch.length;
  }
  if (end < text.length) between(text.slice(end));
  return found;
}

/** Text in other scripts. In a right-to-left paragraph, punctuation at its ends belongs to the paragraph. */
function otherScripts(text: string, around: Direction | undefined): Segment[] {
  if (around !== 'rtl') return [{ text, script: 'plain' }];
  const [before, middle, after] = edges(text);
  const parts: Segment[] = [
    { text: before, script: 'rtl' },
    { text: middle, script: /\p{L}/u.test(middle) ? 'plain' : 'rtl' },
    { text: after, script: 'rtl' },
  ];
  return parts.filter((part) => part.text !== '');
}

/** Neutral characters at the start of a text, the part with letters and digits, and neutral characters at the end. */
function edges(text: string): [before: string, middle: string, after: string] {
  // Not by one expression with `.*?`: its time is quadratic in a run of neutral characters.
  let start = text.length;
  let end = text.length;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    start = Math.min(start, index);
    end = index + word.length;
  }
  return [text.slice(0, start), text.slice(start, end), text.slice(end)];
}

function eastAsian(text: string, language: string | undefined): Script {
  if (HANGUL.test(text)) return 'korean';
  if (KANA.test(text)) return 'japanese';
  const given = language?.slice(0, 2).toLowerCase();
  return given === 'ja' ? 'japanese' : given === 'ko' ? 'korean' : 'chinese';
}

/** The style of a piece of text. Absent members have the value of the paragraph style. */
export interface TextStyle {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly vertical?: 'superscript' | 'subscript';
  readonly code?: boolean;
  /** Background, `RRGGBB`. */
  readonly mark?: string;
  /** `RRGGBB`. */
  readonly color?: string;
  readonly halfPoints?: number;
  /** Name of a font. */
  readonly font?: string;
  readonly capitals?: 'caps' | 'smallCaps';
  /** Space between letters, twips. */
  readonly spacing?: number;
  /** Relationship id of the link around the text, or `#` and the name of a bookmark. */
  readonly link?: string;
  /** White space that is kept: all of it, or only line breaks. */
  readonly space?: 'pre' | 'pre-line';
  readonly dir?: Direction;
  readonly language?: string;
}

type Change = { -readonly [K in keyof TextStyle]: TextStyle[K] };

const YELLOW = 'FFFF00';
const SMALL_HALF_POINTS = 18;
const BIG_HALF_POINTS = 26;

/** The default styles of elements. */
const BY_TAG: ReadonlyMap<string, TextStyle> = new Map([
  ...tags('b strong th dt summary', { bold: true }),
  ...tags('i em cite var address dfn', { italic: true }),
  ...tags('u ins', { underline: true }),
  ...tags('s del strike', { strike: true }),
  ...tags('code kbd samp tt', { code: true }),
  ...tags('sub', { vertical: 'subscript' }),
  ...tags('sup', { vertical: 'superscript' }),
  ...tags('mark', { mark: YELLOW }),
  ...tags('pre', { space: 'pre' }),
  ...tags('small', { halfPoints: SMALL_HALF_POINTS }),
  ...tags('big', { halfPoints: BIG_HALF_POINTS }),
]);

function tags(names: string, style: TextStyle): [string, TextStyle][] {
  return names.split(' ').map((name) => [name, style]);
}

const SIZES: Readonly<Record<string, number>> = {
  'xx-small': 14,
  'x-small': 15,
  small: 18,
  smaller: 18,
  medium: 22,
  large: 28,
  larger: 26,
  'x-large': 36,
  'xx-large': 48,
  'xxx-large': 72,
};

/** The values of `white-space` and `white-space-collapse` that keep some (CSS Text 3 and 4, section 3). */
const SPACES: Readonly<Record<string, TextStyle['space']>> = {
  pre: 'pre',
  'pre-wrap': 'pre',
  'break-spaces': 'pre',
  preserve: 'pre',
  'pre-line': 'pre-line',
  'preserve-breaks': 'pre-line',
};

/** Half-points of the sizes 1 to 7 of `<font>`. */
const FONT_SIZES = [15, 20, 24, 27, 36, 48, 72];
const NORMAL_FONT_SIZE = 3;

const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i;

/** @returns the style inside an element: the outer style with the changes of the element and its `style` */
export function textStyle(element: Element, around: TextStyle): TextStyle {
  const byTag = BY_TAG.get(element.tagName);
  const { style, dir, lang } = element.properties;
  const isFont = element.tagName === 'font';
  if (style === undefined && dir === undefined && lang === undefined && !isFont)
    return byTag ? { ...around, ...byTag } : around;
  const change: Change = { ...around, ...byTag };
  if (isFont) applyFont(change, element);
  if (style !== undefined) applyCss(change, declarations(element));
  const direction = attribute(element, 'dir')?.toLowerCase();
  if (direction !== undefined)
    change.dir = direction === 'rtl' || direction === 'ltr' ? direction : undefined;
  const language = attribute(element, 'lang');
  if (language !== undefined && LANGUAGE.test(language)) change.language = language;
  return change;
}

function applyFont(change: Change, element: Element): void {
  const color = hexColor(attribute(element, 'color'));
  if (color) change.color = color;
  change.font = fontOf(attribute(element, 'face')) ?? change.font;
  const size = attribute(element, 'size') ?? '';
  if (!/^[+-]?\d/.test(size)) return;
  const n = Number(size) + (/^[+-]/.test(size) ? NORMAL_FONT_SIZE : 0);
  change.halfPoints = FONT_SIZES[Math.max(1, Math.min(FONT_SIZES.length, n)) - 1];
}

function applyCss(change: Change, css: ReadonlyMap<string, string>): void {
  const color = hexColor(css.get('color'));
  if (color) change.color = color;
  const background = css.get('background-color') ?? css.get('background');
  if (background !== undefined) change.mark = hexColor(background) ?? change.mark;
  const weight = css.get('font-weight');
  if (weight !== undefined) change.bold = weight.startsWith('bold') || Number(weight) >= 600;
  const slope = css.get('font-style');
  if (slope !== undefined) change.italic = slope !== 'normal';
  const lines = `${css.get('text-decoration') ?? ''} ${css.get('text-decoration-line') ?? ''}`;
  if (lines.includes('underline')) change.underline = true;
  if (lines.includes('line-through')) change.strike = true;
  const vertical = css.get('vertical-align');
  if (vertical === 'sub') change.vertical = 'subscript';
  if (vertical === 'super') change.vertical = 'superscript';
  const size = halfPoints(css.get('font-size'));
  if (size !== undefined) change.halfPoints = size;
  change.font = fontOf(css.get('font-family')) ?? change.font;
  const transform = css.get('text-transform');
  const variant = css.get('font-variant');
  if (transform !== undefined) change.capitals = transform === 'uppercase' ? 'caps' : undefined;
  if (variant !== undefined) change.capitals = variant.includes('small-caps') ? 'smallCaps' : change.capitals;
  const space = css.get('white-space-collapse') ?? css.get('white-space');
  if (space !== undefined) change.space = SPACES[space];
  const spacing = twips(css.get('letter-spacing'));
  if (spacing !== undefined) change.spacing = spacing;
}

const GENERIC_FONTS: Readonly<Record<string, string>> = {
  serif: 'Times New Roman',
  'sans-serif': 'Arial',
  monospace: 'Consolas',
};
/** Names that need no escaping. */
const FONT_NAME = /^[\p{L}\p{N} _.-]{1,31}$/u;

/** The first font of a list: Word has one. */
function fontOf(list: string | undefined): string | undefined {
  const name =
    list
      ?.split(',')[0]
      ?.trim()
      .replaceAll(/^["']|["']$/g, '') ?? '';
  const font = GENERIC_FONTS[name.toLowerCase()] ?? name;
  return FONT_NAME.test(font) &&
    !/^(?:inherit|initial|unset|revert|system-ui|cursive|fantasy|ui-.*)$/i.test(font)
    ? font
    : undefined;
}

/** A font size in half-points, limited to a readable range. */
function halfPoints(css: string | undefined): number | undefined {
  if (css === undefined) return undefined;
  const px = pixels(css, 16);
  // A pixel is 0.75 points, a point two half-points.
  const size = SIZES[css] ?? (px === undefined ? undefined : Math.round(px * 1.5));
  return size === undefined ? undefined : Math.max(8, Math.min(288, size));
}

const MONO = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/>';
const EAST_ASIAN_FONT: Partial<Record<Script, [font: string, language: string]>> = {
  chinese: ['Microsoft YaHei', 'zh-CN'],
  japanese: ['Yu Gothic', 'ja-JP'],
  korean: ['Malgun Gothic', 'ko-KR'],
};

/** The run properties of a style and a script in the order of the schema; `''` when there are none. */
export function runProperties(style: TextStyle, script: Script): string {
  const eastAsian = EAST_ASIAN_FONT[script];
  let xml = '';
  if (style.link) xml += wVal('rStyle', 'Hyperlink');
  else if (style.code) xml += wVal('rStyle', 'CodeText');
  const fonts = style.font ? ` w:ascii="${style.font}" w:hAnsi="${style.font}" w:cs="${style.font}"` : '';
  if (eastAsian) xml += `<w:rFonts w:hint="eastAsia"${fonts} w:eastAsia="${eastAsian[0]}"/>`;
  else if (fonts) xml += `<w:rFonts${fonts}/>`;
  else if (style.link && style.code) xml += MONO;
  if (style.bold !== undefined) xml += style.bold ? '<w:b/><w:bCs/>' : '<w:b w:val="0"/><w:bCs w:val="0"/>';
  if (style.italic !== undefined)
    xml += style.italic ? '<w:i/><w:iCs/>' : '<w:i w:val="0"/><w:iCs w:val="0"/>';
  if (style.capitals) xml += `<w:${style.capitals}/>`;
  if (style.strike) xml += '<w:strike/>';
  if (style.color) xml += wVal('color', style.color);
  if (style.spacing) xml += wVal('spacing', style.spacing);
  if (style.halfPoints) xml += wVal('sz', style.halfPoints) + wVal('szCs', style.halfPoints);
  if (style.mark === YELLOW) xml += wVal('highlight', 'yellow');
  if (style.underline) xml += wVal('u', 'single');
  if (style.mark && style.mark !== YELLOW)
    xml += `<w:shd w:val="clear" w:color="auto" w:fill="${style.mark}"/>`;
  if (style.vertical) xml += wVal('vertAlign', style.vertical);
  if (script === 'rtl') xml += '<w:rtl/>';
  if (script === 'complex') xml += '<w:cs/>';
  return xml + languageXml(style.language, script, eastAsian?.[1]);
}

function languageXml(given: string | undefined, script: Script, eastAsian: string | undefined): string {
  if (eastAsian) return `<w:lang w:eastAsia="${given && /^(?:zh|ja|ko)/i.test(given) ? given : eastAsian}"/>`;
  if (given === undefined) return '';
  return script === 'rtl' || script === 'complex' ? `<w:lang w:bidi="${given}"/>` : wVal('lang', given);
}
