import {
  type Catalogues,
  type Language,
  languageOf,
  type Translate,
  translator,
} from '../../../platform/languages/languages.js';
import { de } from './messages/de.js';
import { en, type Messages } from './messages/en.js';
import { pt } from './messages/pt.js';
import { vi } from './messages/vi.js';

const CATALOGUES: Catalogues<keyof Messages> = { en, de, pt, vi };

export type TranslatePage = Translate<keyof Messages>;

export const pageTranslator = (language: Language): TranslatePage => translator(CATALOGUES, language);

/**
 * @param uiLocales requested languages: BCP 47 tags, best first
 * @param accepted the browser's Accept-Language header
 */
export function chooseLanguage(uiLocales: unknown, accepted: string | undefined): Language {
  const requested = typeof uiLocales === 'string' ? uiLocales.slice(0, 200).split(' ') : [];
  return (
    [...requested, ...preferred(accepted ?? '')].map(languageOf).find((language) => language !== null) ?? 'en'
  );
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
