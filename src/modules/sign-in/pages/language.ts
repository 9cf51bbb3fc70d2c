import {
  acceptedLanguage,
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
    requested.map(languageOf).find((language) => language !== null) ?? acceptedLanguage(accepted) ?? 'en'
  );
}
