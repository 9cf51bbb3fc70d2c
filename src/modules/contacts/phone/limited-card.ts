import type { CardFields, CardProperty } from '../../../lib/vcard/index.js';
import { MAX_ENTRIES, MAX_NOTES } from '../input/card-fields.dto.js';

type Fields = Omit<CardFields, 'uid'>;

/** Limits of `CardFieldsInput`: characters of texts by their member, and entries of lists. */
const TEXT = 1_000;
const TEXTS: Record<string, number> = {
  extension: 50,
  formatted: 4_000,
  types: 64,
  language: 100,
  time_zone: 100,
};
const LISTS: Record<string, number> = {
  types: 20,
  units: 20,
  nicknames: 100,
  categories: 200,
  members: 5_000,
};
/** Characters of an address. A cut address would be another one, so that a longer one is left out. */
const ADDRESSES: Record<string, number> = { emails: 2_000, phones: 200, urls: 2_000 };
/** Characters of a LOGO, SOUND or KEY that a contact keeps; longer ones would fill it. */
const MAX_MEDIA = 16_384;
const MAX_NAME = 64;
const MAX_PARAMS = 50;

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
    return first((value as CardProperty[]).filter(fits(omitted)), MAX_ENTRIES, field, omitted);
  if (!Array.isArray(value)) return cut(value, field, field, omitted);
  const maxAddress = ADDRESSES[field] ?? Number.POSITIVE_INFINITY;
  const isFitting = (entry: unknown): boolean => {
    const { value: text = '', uri = '', type = '' } = (entry ?? {}) as Record<string, string | null>;
    const maxUri = field === 'related' ? 16_384 : 2_000;
    return (
      (text?.length ?? 0) <= maxAddress && (uri?.length ?? 0) <= maxUri && (type?.length ?? 0) <= MAX_NAME
    );
  };
  const fitting = value.filter((entry) => typeof entry === 'string' || isFitting(entry));
  if (fitting.length < value.length) omitted.add(field);
  return first(fitting, LISTS[field] ?? MAX_ENTRIES, field, omitted).map((entry) =>
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
    const max = key === 'value' || key === 'uri' ? Number.POSITIVE_INFINITY : (TEXTS[key] ?? TEXT);
    if (value.length <= max) return value;
    omitted.add(field);
    return value.slice(0, max).toWellFormed().trim();
  }
  if (Array.isArray(value))
    return first(value, LISTS[key] ?? MAX_ENTRIES, field, omitted).map((each) =>
      cut(each, key, field, omitted),
    );
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, cut(each, name, field, omitted)]),
  );
}

/** Cuts at the end of a character. */
function cutBytes(text: string, field: string, omitted: Set<string>): string {
  if (Buffer.byteLength(text) <= MAX_NOTES) return text;
  omitted.add(field);
  const bytes = new Uint8Array(MAX_NOTES);
  return text.slice(0, new TextEncoder().encodeInto(text, bytes).read).trim();
}

const isName = (text: string): boolean => text.length <= MAX_NAME && /^[a-z0-9-]+$/i.test(text);

const fits =
  (omitted: Set<string>) =>
  ({ group, name, params, value }: CardProperty): boolean => {
    const lists = Object.entries(params);
    const isFitting =
      isName(name) &&
      (group ?? '').length <= MAX_NAME &&
      Buffer.byteLength(value) <= (value.startsWith('data:') ? MAX_MEDIA : MAX_NOTES) &&
      lists.length <= MAX_PARAMS &&
      lists.every(
        ([key, texts]) =>
          isName(key) && texts.length <= MAX_PARAMS && texts.every((text) => text.length <= TEXT),
      );
    if (!isFitting) omitted.add(name.slice(0, MAX_NAME));
    return isFitting;
  };
