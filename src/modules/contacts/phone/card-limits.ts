import { type CardFields, type CardProperty, checkDate, isPropertyName } from '../../../lib/vcard/index.js';
import { CARD_FIELDS } from '../../../lib/contact-card/index.js';
import { charactersOf, cutText } from '../../../lib/text/index.js';
import { CARD_LIMITS } from '../input/card-fields.dto.js';

type Fields = Omit<CardFields, 'uid'>;

/** Characters of texts, and entries of lists, by their member. */
const TEXTS: Record<string, number> = {
  extension: CARD_LIMITS.extension,
  formatted: CARD_LIMITS.formatted,
  types: CARD_LIMITS.type,
  language: CARD_LIMITS.language,
  time_zone: CARD_LIMITS.zone,
};
const LISTS: Record<string, number> = {
  types: CARD_LIMITS.types,
  units: CARD_LIMITS.units,
  nicknames: CARD_LIMITS.texts,
  categories: CARD_LIMITS.texts,
  members: CARD_LIMITS.members,
};
/** Characters of an address. A cut address would be another one, so that a longer one is left out. */
const ADDRESSES: Record<string, number> = {
  emails: CARD_LIMITS.address,
  phones: CARD_LIMITS.phone,
  urls: CARD_LIMITS.address,
  members: CARD_LIMITS.uid,
};
/** Characters of a file in a property that a contact keeps; longer ones would fill it. */
const MAX_MEDIA = 16_384;

/**
 * The card within the limits of `CardFieldsInput`: a text that is too long is cut, an address, property or entry beyond a limit is
 * left out.
 * @returns the card, and the names of the fields and properties that lost a part
 */
export function limitedCard(card: Fields): { card: Fields; omitted: string[] } {
  const omitted = new Set<string>();
  const limited: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(card)) limited[field] = limitedField(field, value, omitted);
  return { card: limited as unknown as Fields, omitted: [...omitted] };
}

function limitedField(field: string, value: unknown, omitted: Set<string>): unknown {
  if (field === 'notes') return typeof value === 'string' ? cutBytes(value, field, omitted) : value;
  if (field === 'custom')
    return first((value as CardProperty[]).filter(fits(omitted)), CARD_LIMITS.entries, field, omitted);
  if (!Array.isArray(value)) return cut(value, field, field, omitted);
  const maxAddress = ADDRESSES[field] ?? Number.POSITIVE_INFINITY;
  const isFitting = (entry: unknown): boolean => {
    if (typeof entry === 'string') return field !== 'members' || entry.length <= maxAddress;
    const { value: text = '', uri = '', type = '' } = (entry ?? {}) as Record<string, string | null>;
    const maxUri = field === 'related' ? CARD_LIMITS.relatedUri : CARD_LIMITS.profileUri;
    return (
      (text?.length ?? 0) <= maxAddress &&
      (uri?.length ?? 0) <= maxUri &&
      (type?.length ?? 0) <= CARD_LIMITS.type
    );
  };
  const fitting = value.filter(isFitting);
  if (fitting.length < value.length) omitted.add(field);
  return first(fitting, LISTS[field] ?? CARD_LIMITS.entries, field, omitted).map((entry) =>
    cut(entry, field, field, omitted),
  );
}

function first<T>(list: readonly T[], max: number, field: string, omitted: Set<string>): T[] {
  if (list.length > max) omitted.add(field);
  return list.slice(0, max);
}

/** Cuts texts at any depth. `value` and `uri` are addresses, which `limitedField` has checked. */
function cut(value: unknown, key: string, field: string, omitted: Set<string>): unknown {
  if (typeof value === 'string') {
    const max =
      key === 'value' || key === 'uri' ? Number.POSITIVE_INFINITY : (TEXTS[key] ?? CARD_LIMITS.text);
    if (charactersOf(value) <= max) return value;
    omitted.add(field);
    return cutText(value, max).trim();
  }
  if (Array.isArray(value))
    return first(value, LISTS[key] ?? CARD_LIMITS.entries, field, omitted).map((each) =>
      cut(each, key, field, omitted),
    );
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, cut(each, name, field, omitted)]),
  );
}

/** Cuts at the end of a character. */
function cutBytes(text: string, field: string, omitted: Set<string>): string {
  if (Buffer.byteLength(text) <= CARD_LIMITS.notes) return text;
  omitted.add(field);
  const bytes = new Uint8Array(CARD_LIMITS.notes);
  return text.slice(0, new TextEncoder().encodeInto(text, bytes).read).trim();
}

const isName = (text: string): boolean => text.length <= CARD_LIMITS.name && isPropertyName(text);

const fits =
  (omitted: Set<string>) =>
  ({ group, name, params, value }: CardProperty): boolean => {
    const lists = Object.entries(params);
    const isFitting =
      isName(name) &&
      (group ?? '').length <= CARD_LIMITS.name &&
      Buffer.byteLength(value) <= (value.startsWith('data:') ? MAX_MEDIA : CARD_LIMITS.notes) &&
      lists.length <= CARD_LIMITS.params &&
      lists.every(
        ([key, texts]) =>
          isName(key) &&
          texts.length <= CARD_LIMITS.params &&
          texts.every((text) => text.length <= CARD_LIMITS.text),
      );
    if (!isFitting) omitted.add(cutText(name, CARD_LIMITS.name));
    return isFitting;
  };

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
  card.custom.every(({ name, params }) => [name, ...Object.keys(params)].every(isShortName)) &&
  isSmall({ ...card, notes: null, full_name: null, organization: card.organization?.units }, '');

const isShortName = (text: string): boolean => text.length <= SHORT && isPropertyName(text);

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

/** Levels of the JSON of a contact: lists of properties with parameters, which are lists. */
const MAX_DEPTH = 6;

/** Whether a JSON value is an object with no more levels than a contact has. */
export const isShallow = (value: unknown): value is object => isObject(value) && hasDepth(value, MAX_DEPTH);

const hasDepth = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((each) => hasDepth(each, depth - 1)));

/** Lists whose entries may be bare values. */
const BARE = new Set(['emails', 'phones', 'urls']);

/**
 * The fields of a contact of a JSON body within the limits, as by `limitedCard`; dates that no calendar has are left out.
 * @param plain not validated; fields of other types stay as they are
 */
export function limitedFields(plain: object): { fields: Record<string, unknown>; omitted: string[] } {
  const omitted = new Set<string>();
  const given = plain as Record<string, unknown>;
  const fields = Object.fromEntries(
    CARD_FIELDS.filter((field) => hasShape(field, given[field])).map((field) => {
      const value = given[field];
      if (BARE.has(field))
        return [field, limitedField(field, (value as unknown[]).map(withoutBare), omitted)];
      if (field === 'custom')
        return [
          field,
          limitedField(
            field,
            (value as object[]).map((each) => ({ params: {}, ...each })),
            omitted,
          ),
        ];
      if (field !== 'dates') return [field, limitedField(field, value, omitted)];
      const existing = (value as object[]).filter(isInCalendar);
      if (existing.length < (value as object[]).length) omitted.add(field);
      return [field, limitedField(field, existing, omitted)];
    }),
  );
  return { fields, omitted: [...omitted] };
}

const withoutBare = (entry: unknown): unknown => (typeof entry === 'string' ? { value: entry } : entry);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const OBJECTS = new Set(['name', 'organization']);
const TEXT_LISTS = new Set(['nicknames', 'categories', 'members']);
const SINGLE_TEXTS = new Set(['full_name', 'job_title', 'notes', 'time_zone', 'language']);

/** Whether the value has the type of the field. */
function hasShape(field: string, value: unknown): boolean {
  if (OBJECTS.has(field)) return isObject(value);
  if (SINGLE_TEXTS.has(field)) return typeof value === 'string';
  if (!Array.isArray(value)) return false;
  if (TEXT_LISTS.has(field)) return value.every((each) => typeof each === 'string');
  return value.every((each) => {
    if (typeof each === 'string') return BARE.has(field);
    return isObject(each) && ADDRESS_MEMBERS.every((name) => isText(each[name])) && isProperty(field, each);
  });
}

/** Members of entries whose length `limitedField` compares. */
const ADDRESS_MEMBERS = ['value', 'uri', 'type'];
const isText = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string';

const isProperty = (field: string, entry: Record<string, unknown>): boolean =>
  field !== 'custom' ||
  (typeof entry['name'] === 'string' &&
    typeof entry['value'] === 'string' &&
    isText(entry['group']) &&
    (entry['params'] === undefined || isParameters(entry['params'])));

const isParameters = (params: unknown): boolean =>
  isObject(params) &&
  Object.values(params).every(
    (list) => Array.isArray(list) && list.every((each) => typeof each === 'string'),
  );

const isPart = (value: unknown): value is number | null | undefined =>
  value === undefined || value === null || typeof value === 'number';

function isInCalendar({ year, month, day }: { year?: unknown; month?: unknown; day?: unknown }): boolean {
  // Validation rejects parts of other types.
  if (!isPart(year) || !isPart(month) || !isPart(day) || typeof day !== 'number') return true;
  return checkDate({ year: year ?? null, month: month ?? null, day }) !== undefined;
}
