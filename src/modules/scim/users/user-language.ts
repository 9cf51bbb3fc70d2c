import type { Json } from '../../../lib/scim/index.js';
import {
  acceptedLanguage,
  acceptedTags,
  type Language,
  languageOf,
} from '../../../platform/languages/languages.js';
import { isTimeZone } from '../../../lib/recurrence/index.js';
import { isLocale } from '../../settings/index.js';

const textOf = (attributes: Json, name: string): string => {
  const value = attributes[name];
  return typeof value === 'string' ? value : '';
};

/** Some clients write `en_US`. */
const tagOf = (attributes: Json): string => textOf(attributes, 'locale').replaceAll('_', '-');

/**
 * The language of mails to a user: the best of `preferredLanguage`, which has the format of Accept-Language (RFC 7643,
 * section 4.1.1), or else that of `locale`.
 * @returns null when there are texts in none of these languages
 */
export const languageOfUser = (attributes: Json): Language | null =>
  acceptedLanguage(textOf(attributes, 'preferredLanguage')) ?? languageOf(tagOf(attributes));

interface LocaleFields {
  locale?: string;
  timezone?: string;
}

/**
 * The fields of the profile for changed attributes. Unchanged attributes leave the choice of the user as it is; invalid values
 * are stored as attributes only.
 * @param before the attributes that the client wrote before
 */
export function localeFields(attributes: Json, before: Json): LocaleFields {
  const isChanged = (name: string) => attributes[name] !== undefined && attributes[name] !== before[name];
  // A locale with a region also has the formats of dates and numbers.
  const tags = [tagOf(attributes), ...acceptedTags(textOf(attributes, 'preferredLanguage'))];
  const language = languageOfUser(attributes);
  const locale = tags.find((tag) => isLocale(tag) && languageOf(tag) === language);
  const timezone = textOf(attributes, 'timezone');
  return {
    ...((isChanged('preferredLanguage') || isChanged('locale')) && locale !== undefined && { locale }),
    ...(isChanged('timezone') && isTimeZone(timezone) && { timezone }),
  };
}
