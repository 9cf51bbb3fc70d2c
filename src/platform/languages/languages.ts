/** Languages of pages, notifications and mails. */
export const LANGUAGES = ['en', 'de', 'pt', 'vi'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A text, or its singular and plural forms (CLDR categories of these languages). `{placeholders}` are replaced. */
export type Text = string | { readonly one: string; readonly other: string };

/** Each language has the same texts. */
export type Catalogues<Key extends string> = Record<Language, Record<Key, Text>>;

export type TextValues = Readonly<Record<string, string | number>>;

/** Returns a text with its `{placeholders}` replaced; the value `count` selects the plural form. */
export type Translate<Key extends string> = (key: Key, values?: TextValues) => string;

/** @param tag BCP 47, e.g. `pt-BR` @returns the language of the tag, null when it has no texts */
export function languageOf(tag: string | null | undefined): Language | null {
  const primary = tag?.toLowerCase().split('-')[0];
  return LANGUAGES.find((language) => language === primary) ?? null;
}

/** Unknown placeholders stay. */
export function fill(language: Language, text: Text, values: TextValues = {}): string {
  const form = typeof text === 'string' ? text : text[pluralOf(language, values['count'])];
  return form.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

export const translator =
  <Key extends string>(catalogues: Catalogues<Key>, language: Language): Translate<Key> =>
  (key, values) =>
    fill(language, catalogues[language][key], values);

function pluralOf(language: Language, count: unknown): 'one' | 'other' {
  return new Intl.PluralRules(language).select(Number(count)) === 'one' ? 'one' : 'other';
}

const MAX_ACCEPT_LANGUAGE = 500;

/**
 * The best language of an Accept-Language header that has texts (RFC 9110, section 12.5.4).
 * @returns null without one
 */
export function acceptedLanguage(header: string | null | undefined): Language | null {
  return (
    acceptedTags(header)
      .map(languageOf)
      .find((language) => language !== null) ?? null
  );
}

/** The language tags of an Accept-Language header, best first; tags with the weight 0 are omitted. */
export function acceptedTags(header: string | null | undefined): string[] {
  return (header ?? '')
    .slice(0, MAX_ACCEPT_LANGUAGE)
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
