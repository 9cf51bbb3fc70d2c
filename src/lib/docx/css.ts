import colorString from 'color-string';
import type { Element } from 'hast';

/** Twips (twentieths of a point) in one CSS pixel. */
export const TWIPS_PER_PX = 15;

const PX_PER_UNIT: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
};

/** The value of an attribute as text; undefined when it is absent. */
export function attribute(element: Element, name: string): string | undefined {
  const value = element.properties[name];
  return value === undefined || value === null || value === false ? undefined : String(value);
}

/** The declarations of an element's `style` by lower-case property name, in lower case except for names of fonts. The last one counts. */
export function declarations(element: Element): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const declaration of (attribute(element, 'style') ?? '').split(';')) {
    const colon = declaration.indexOf(':');
    if (colon <= 0) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration.slice(colon + 1).trim();
    if (name === 'font') setFont(found, value);
    else found.set(name, name === 'font-family' ? value : value.toLowerCase());
  }
  return found;
}

/** Style, variant and weight in any order, then the size, then the families. */
const FONT =
  /^((?:[a-z-]+ |\d00 )*)((?:\d{1,4}(?:\.\d{1,6})?|\.\d{1,6})(?:[a-z]{1,3}|%)|(?:x{1,3}-|x-)?(?:small|large)|medium|smaller|larger)(?: ?\/ ?\S+)? (\S.*)$/i;
const SLANTS = new Set(['italic', 'oblique']);
const WEIGHTS = /^(?:bold|bolder|lighter|\d00)$/;

/** Expands the shorthand `font` (CSS Fonts 4, 2.7): what it does not name is normal. */
function setFont(found: Map<string, string>, value: string): void {
  const [, words = '', size = '', family = ''] = FONT.exec(value.replace(/\s+/g, ' ')) ?? [];
  if (family === '') return;
  const names = words.toLowerCase().split(' ');
  found.set('font-style', names.find((name) => SLANTS.has(name)) ?? 'normal');
  found.set('font-variant', names.includes('small-caps') ? 'small-caps' : 'normal');
  found.set('font-weight', names.find((name) => WEIGHTS.test(name)) ?? 'normal');
  found.set('font-size', size.toLowerCase());
  found.set('font-family', family);
}

/** A CSS colour as `RRGGBB`; undefined for invalid, transparent and context-dependent colours. */
export function hexColor(css: string | undefined): string | undefined {
  const parsed = css === undefined ? null : colorString.get.rgb(css);
  const rgb = parsed ?? rgbOf(css === undefined ? null : colorString.get(css));
  if (!rgb || rgb.some(Number.isNaN) || rgb[3] === 0) return undefined;
  return rgb
    .slice(0, 3)
    .map((part) =>
      Math.max(0, Math.min(255, Math.round(part)))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')
    .toUpperCase();
}

function rgbOf(color: ReturnType<typeof colorString.get>): number[] | null {
  if (color?.model !== 'hsl') return null;
  const [hue = 0, saturation = 0, light = 0, alpha = 1] = color.value;
  const reach = (saturation / 100) * Math.min(light / 100, 1 - light / 100);
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    return 255 * (light / 100 - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4), alpha];
}

/** A CSS length, which may be negative, in twips. Undefined for other values and percentages. */
export function twips(css: string | undefined): number | undefined {
  const size = css?.endsWith('%') ? undefined : pixels(css?.replace(/^-/, ''), 0);
  return size === undefined ? undefined : Math.round((css?.startsWith('-') ? -size : size) * TWIPS_PER_PX);
}

/**
 * A CSS or attribute length in pixels. A number without a unit means pixels, a percentage is relative to `whole`. Undefined for
 * other values, such as `auto`.
 */
export function pixels(css: string | undefined, whole: number): number | undefined {
  const match = /^(\d{1,5}(?:\.\d{1,6})?)(px|pt|pc|in|cm|mm|em|rem|ex|ch|%)?$/.exec(css?.trim() ?? '');
  if (!match) return undefined;
  const amount = Number(match[1]);
  return match[2] === '%' ? (amount * whole) / 100 : amount * (PX_PER_UNIT[match[2] ?? 'px'] ?? 1);
}
