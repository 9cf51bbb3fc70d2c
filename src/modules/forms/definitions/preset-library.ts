import { LANGUAGES, type Language, type Preset, translatePreset } from './presets/preset-texts.js';
import { OFFICE_PRESETS } from './presets/office-presets.js';
import { SURVEY_PRESETS } from './presets/survey-presets.js';

const SOURCES = [...SURVEY_PRESETS, ...OFFICE_PRESETS];

/** @param tag BCP 47; languages without translations are English */
function languageOf(tag: string | undefined): Language {
  const primary = tag?.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary) ?? 'en';
}

/** All presets in a language. */
export const presetsIn = (language: string | undefined): Preset[] =>
  SOURCES.map((source) => translatePreset(source, languageOf(language)));

/** @returns undefined for an unknown id */
export const presetOf = (id: string, language: string | undefined): Preset | undefined =>
  presetsIn(language).find((preset) => preset.id === id);
