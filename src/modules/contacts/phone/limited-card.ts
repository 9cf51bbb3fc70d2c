import type { CardFields, CardProperty } from '../../../lib/vcard/index.js';
import { CARD_LIMITS } from '../input/card-limits.js';
import { cutText, charactersOf } from '../../../lib/text/index.js';

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
/** Characters of a LOGO, SOUND or KEY that a contact keeps; longer ones would fill it. */
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

const isName = (text: string): boolean => text.length <= CARD_LIMITS.name && /^[a-z0-9-]+$/i.test(text);

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
