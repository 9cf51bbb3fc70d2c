import type { CardFields } from '../../../lib/vcard/index.js';

/** Characters of short texts, below the limits of all fields. */
const SHORT = 50;
/** Characters of other texts, below the limits of their fields. */
const LONG = 200;
const NOTES = 16_384;
/** Entries of a list, below the limits of all lists. */
const ENTRIES = 20;

const SHORT_KEYS = new Set(['extension', 'group', 'language', 'name', 'time_zone', 'type', 'types']);
const LARGEST: Record<string, number> = { year: 9999, month: 12, day: 31 };

/**
 * True for a card that is within all limits of `CardFieldsInput`; the validation of each field costs three times as much as
 * reading the card. A card for which it is false may be valid.
 * @param card as `lib/vcard` reads it, which has fields of the right types only
 */
export const isOrdinary = (card: Omit<CardFields, 'uid'>): boolean =>
  (card.notes === null || card.notes.length <= NOTES) &&
  (card.full_name === null || card.full_name.length <= LONG) &&
  (card.organization?.name ?? '').length <= LONG &&
  card.custom.every(({ name, params }) => [name, ...Object.keys(params)].every(isName)) &&
  isSmall({ ...card, notes: null, full_name: null, organization: card.organization?.units }, '');

const isName = (text: string): boolean => text.length <= SHORT && /^[A-Za-z0-9-]+$/.test(text);

function isSmall(value: unknown, key: string): boolean {
  if (typeof value === 'string')
    return key === 'country_code'
      ? /^[A-Za-z]{2}$/.test(value)
      : value.length <= (SHORT_KEYS.has(key) ? SHORT : LONG);
  if (typeof value === 'number')
    return Number.isInteger(value) && value >= 1 && value <= (LARGEST[key] ?? Number.POSITIVE_INFINITY);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length <= ENTRIES && value.every((entry) => isSmall(entry, key));
  const entries = Object.entries(value);
  return entries.length <= SHORT && entries.every(([name, each]) => isSmall(each, name));
}
