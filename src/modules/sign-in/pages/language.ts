import { de } from './messages/de.js';
import { en, type Messages } from './messages/en.js';
import { pt } from './messages/pt.js';
import { vi } from './messages/vi.js';

const CATALOGUES: Record<Language, Messages> = { en, de, pt, vi };

/** Languages of the pages. */
export const LANGUAGES = ['en', 'de', 'pt', 'vi'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Returns a text with its `{placeholders}` replaced. */
export type Translate = (key: keyof Messages, values?: Record<string, string>) => string;

export function translator(language: Language): Translate {
  return (key, values = {}) =>
    CATALOGUES[language][key].replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/**
 * @param uiLocales requested languages: BCP 47 tags, best first
 * @param accepted the browser's Accept-Language header
 */
export function chooseLanguage(uiLocales: unknown, accepted: string | undefined): Language {
  const requested = typeof uiLocales === 'string' ? uiLocales.slice(0, 200).split(' ') : [];
  return (
    [...requested, ...preferred(accepted ?? '')].map(supported).find((language) => language !== null) ?? 'en'
  );
}

function supported(tag: string): Language | null {
  const primary = tag.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary) ?? null;
}

/** Language tags by weight (RFC 9110, section 12.5.4). */
function preferred(header: string): string[] {
  return header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(/\s*;\s*/);
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { tag, weight: q === undefined ? 1 : Number(q) || 0 };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
