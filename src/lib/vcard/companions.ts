import { isDeepStrictEqual } from 'node:util';
import {
  ADDRESS_PARTS,
  type Card,
  type CardFields,
  type CardProperty,
  isMessenger,
  NAME_PARTS,
} from './card.js';
import { dateOf, formatDate } from './dates.js';
import { Draft } from './read/draft.js';
import { HANDLERS } from './read/handlers.js';
import { Params, type Property } from './read/properties.js';
import { cleanText, isUri, preferenceOf, splitEscaped, unescapeText } from './values.js';

/**
 * Companions: properties of `custom` whose value a field of the card has. They keep what the field cannot hold: the group that
 * connects properties, parameters such as SORT-AS, PID and LANGUAGE, lists within names, and the components of RFC 9554.
 */

/** Parameters whose content is in members of the fields, by the name of the property. */
const TYPED = ['TYPE', 'PREF'];
const SERVICE = [...TYPED, 'SERVICE-TYPE', 'X-SERVICE-TYPE', 'X-USER', 'USERNAME'];
const DATE = ['X-APPLE-OMIT-YEAR'];
const HELD: ReadonlyMap<string, readonly string[]> = new Map([
  ['FN', ['DERIVED']],
  ['N', []],
  ['NICKNAME', []],
  ['ORG', []],
  ['TITLE', []],
  ['EMAIL', TYPED],
  ['TEL', TYPED],
  ['ADR', [...TYPED, 'LABEL', 'CC']],
  ['URL', TYPED],
  ['IMPP', SERVICE],
  ['SOCIALPROFILE', SERVICE],
  ['X-SOCIALPROFILE', SERVICE],
  ['BDAY', DATE],
  ['ANNIVERSARY', DATE],
  ['X-ABDATE', DATE],
  ['NOTE', []],
  ['CATEGORIES', []],
  ['RELATED', [...TYPED, 'X-NAME']],
  ['X-ABRELATEDNAMES', TYPED],
  ['MEMBER', []],
  ['TZ', []],
  ['LANG', []],
  ['PHOTO', []],
]);
/** Whether a field can have the value of a property of this name. */
export const isHeld = (name: string): boolean => HELD.has(name);
/** Parameters that describe the spelling of the value; `X-ANDROID-LABEL` is a label. */
const NEVER = new Set(['VALUE', 'X-ANDROID-LABEL']);

/** Companions of a card and characters of their values: more would fill the contact, and block the process. */
const MAX_COMPANIONS = 200;
const MAX_LENGTH = 16_384;

/** The companion of a property that a field holds; undefined if the field holds all of it. @param isShared its group connects it with others */
export function companionOf(property: Property, isShared: boolean, isOld: boolean): CardProperty | undefined {
  const { name, params, binary, nested } = property;
  const held = HELD.get(name);
  if (
    !held ||
    property.value.length > MAX_LENGTH ||
    binary ||
    nested !== null ||
    (name === 'FN' && params.has('DERIVED'))
  )
    return undefined;
  const left = [...params].filter((entry) => isLeft(entry, held, name));
  const group = isShared ? property.group : null;
  const text = isOld ? property.value.replaceAll(/(?<!\\),/g, String.raw`\,`) : property.value;
  // Versions spell dates differently.
  const date = held === DATE ? dateOf({ value: text, params }) : undefined;
  const value = date ? formatDate(date, true) : text;
  if (left.length === 0 && group === null && !isRicher(name, value)) return undefined;
  return { group, name, params: Object.fromEntries(left), value };
}

/** Properties that may occur several times, and whose fields have no member for the preferred one. */
const WITHOUT_PRIMARY = new Set(['NICKNAME', 'ORG', 'TITLE', 'LANG']);

function isLeft([key, values]: [string, string[]], held: readonly string[], name: string): boolean {
  if (NEVER.has(key) || held.includes(key)) return false;
  if (key === 'TYPE') return values.some((value) => value.toLowerCase() !== 'pref');
  return key !== 'PREF' || values[0] !== '1' || WITHOUT_PRIMARY.has(name);
}

/** True for a value with parts that the field has no member for. */
function isRicher(name: string, value: string): boolean {
  if (name === 'N') {
    const parts = splitEscaped(value, ';');
    return (
      parts.slice(NAME_PARTS.length).some(hasText) || parts.some((part) => splitEscaped(part, ',').length > 1)
    );
  }
  if (name === 'ADR') return splitEscaped(value, ';').slice(ADDRESS_PARTS.length).some(hasText);
  return name === 'IMPP' && isUri(value) && !isMessenger(value);
}

/** A part of blanks is lost when it is written again. */
const hasText = (part: string): boolean => cleanText(unescapeText(part)) !== null;

/** The value of a field or of one of its entries as a key. */
export const keyOf = (field: keyof CardFields | 'photo', ...value: unknown[]): string =>
  JSON.stringify([field, ...value]);

export const entryKeys = {
  name: (name: NonNullable<Card['name']>) => keyOf('name', ...NAME_PARTS.map((part) => name[part])),
  organization: ({ name, units }: NonNullable<Card['organization']>) => keyOf('organization', name, units),
  emails: ({ value }: Card['emails'][number]) => keyOf('emails', value),
  phones: ({ value }: Card['phones'][number]) => keyOf('phones', value),
  addresses: (address: Card['addresses'][number]) =>
    keyOf('addresses', ...ADDRESS_PARTS.map((part) => address[part])),
  urls: ({ value }: Card['urls'][number]) => keyOf('urls', value),
  profiles: ({ user, uri }: Card['profiles'][number]) => keyOf('profiles', user, uri),
  dates: ({ year, month, day }: Card['dates'][number]) => keyOf('dates', year, month, day),
  related: ({ name, uri }: Card['related'][number]) => keyOf('related', name, uri),
};

/** The keys of all values of a card. */
function keysOf(card: Omit<Card, 'photo'> & Partial<Pick<Card, 'photo'>>): string[] {
  const { full_name, name, organization, job_title, notes, time_zone, language, photo } = card;
  const single = { full_name, job_title, notes, time_zone, language } as const;
  return [
    ...Object.entries(single).flatMap(([field, value]) =>
      value === null ? [] : [keyOf(field as keyof CardFields, value)],
    ),
    ...(name ? [entryKeys.name(name)] : []),
    ...(organization ? [entryKeys.organization(organization)] : []),
    ...card.nicknames.map((text) => keyOf('nicknames', text)),
    ...card.categories.map((text) => keyOf('categories', text)),
    ...card.members.map((uid) => keyOf('members', uid)),
    ...card.emails.map(entryKeys.emails),
    ...card.phones.map(entryKeys.phones),
    ...card.addresses.map(entryKeys.addresses),
    ...card.urls.map(entryKeys.urls),
    ...card.profiles.map(entryKeys.profiles),
    ...card.dates.map(entryKeys.dates),
    ...card.related.map(entryKeys.related),
    ...(photo && 'uri' in photo ? [keyOf('photo', photo.uri)] : []),
  ];
}

/** The keys of the values of a property; empty for a property without a field. */
function keysOfProperty({ group, name, params, value }: CardProperty): string[] {
  const handler = HELD.has(name) ? HANDLERS.get(name) : undefined;
  if (!handler) return [];
  const draft = new Draft({ version: '4.0', properties: [] });
  const property = {
    group,
    name,
    params: new Params(Object.entries(params)),
    value,
    binary: null,
    nested: null,
  };
  return handler(draft, property) ? keysOf(draft.finish()) : [];
}

export type Content = Omit<CardFields, 'uid'> & Partial<Pick<Card, 'photo'>>;

/** The companions of a card by the keys of their values, and the other properties of `custom`. */
export class Companions {
  readonly rest: CardProperty[] = [];
  private readonly byKey = new Map<string, CardProperty>();

  constructor(card: Content) {
    let known: Set<string> | undefined;
    for (const property of card.custom) {
      const keys = keysOfProperty(property);
      known ??= keys.length > 0 ? new Set(keysOf({ ...card, uid: null })) : undefined;
      const isCompanion = keys.length > 0 && keys.every((key) => known?.has(key) || isNote(card, property));
      if (!isCompanion) this.rest.push(property);
      else for (const key of keys) this.byKey.set(key, merged(this.byKey.get(key), property));
    }
  }

  /** @param key of `keyOf` or `entryKeys`, which most cards do not need */
  of(key: () => string): CardProperty | undefined {
    return this.byKey.size === 0 ? undefined : this.byKey.get(key());
  }

  /**
   * The companion of a field with one value, and the preference that the field needs: readers would prefer another property of the
   * name, if that has a PREF and the field has none.
   */
  preferred(name: string, companion?: CardProperty): CardProperty | undefined {
    let least = Number.POSITIVE_INFINITY;
    for (const property of this.rest)
      if (property.name === name) least = Math.min(least, preferenceIn(property));
    if (least === Number.POSITIVE_INFINITY) return companion;
    const { params, ...property } = companion ?? { group: null, name, params: {}, value: '' };
    const own = preferenceIn({ params });
    const preference = own === Number.POSITIVE_INFINITY ? 1 : Math.min(own, least);
    return { ...property, params: { ...params, PREF: [String(preference)] } };
  }

  all(): CardProperty[] {
    return [...new Set(this.byKey.values())];
  }

  /** The notes in parts: those of companions, with the companion, and the texts between them. */
  notes(notes: string | null): { text: string; companion: CardProperty | undefined }[] {
    let parts: { text: string; companion: CardProperty | undefined }[] = notes
      ? [{ text: notes, companion: undefined }]
      : [];
    for (const companion of new Set(this.byKey.values())) {
      if (companion.name !== 'NOTE') continue;
      const text = cleanText(unescapeText(companion.value)) ?? '';
      const at = parts.findIndex((part) => !part.companion && placeOf(part.text, text) !== -1);
      const found = parts[at];
      if (!found) continue;
      const start = placeOf(found.text, text);
      const before = found.text.slice(0, Math.max(0, start - 1));
      const after = found.text.slice(start + text.length + 1);
      const around = (rest: string) => (rest.trim() ? [{ text: rest, companion: undefined }] : []);
      parts = [
        ...parts.slice(0, at),
        ...around(before),
        { text, companion },
        ...around(after),
        ...parts.slice(at + 1),
      ];
    }
    return parts;
  }

  /** Texts of a list in their order, divided into those of one companion and those without one. */
  lists(
    field: 'nicknames' | 'categories',
    texts: readonly string[],
  ): { texts: string[]; companion: CardProperty | undefined }[] {
    const lists: { texts: string[]; companion: CardProperty | undefined }[] = [];
    for (const text of texts) {
      const companion = this.of(() => keyOf(field, text));
      const last = lists.at(-1);
      if (last && last.companion === companion) last.texts.push(text);
      else lists.push({ texts: [text], companion });
    }
    return lists;
  }
}

const preferenceIn = ({ params }: Pick<CardProperty, 'params'>): number =>
  preferenceOf({ params: new Map(Object.entries(params)) });

/** The start of the part in the text, at the limits of lines; -1 for none. */
function placeOf(text: string, part: string): number {
  if (part === '') return -1;
  return `\n${text}\n`.indexOf(`\n${part}\n`);
}

function isNote({ notes }: Content, { name, value }: CardProperty): boolean {
  return name === 'NOTE' && placeOf(notes ?? '', cleanText(unescapeText(value)) ?? '') !== -1;
}

/** Cards that were joined have two companions of one value. */
function merged(first: CardProperty | undefined, second: CardProperty): CardProperty {
  if (!first) return second;
  return { ...first, group: first.group ?? second.group, params: { ...second.params, ...first.params } };
}

/** Those of the properties that are companions of values of the card, in the order of `HELD`. */
export function companionsIn(card: Card, properties: readonly CardProperty[]): CardProperty[] {
  const first = properties.slice(0, MAX_COMPANIONS);
  const others = new Set(new Companions({ ...card, custom: first }).rest);
  const names = [...HELD.keys()];
  return first
    .filter((property) => !others.has(property))
    .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
}

/** Properties without a field that are another form of the value of one: its sort form (RFC 2426, 3.6.5), its reading, its date in another calendar. */
const OTHER_FORMS: readonly { names: readonly string[]; valueOf: (card: Content) => unknown }[] = [
  {
    names: ['SORT-STRING', 'X-PHONETIC-MIDDLE-NAME'],
    valueOf: ({ name, full_name }) => (name ? entryKeys.name(name) : full_name),
  },
  { names: ['X-PHONETIC-ORG'], valueOf: ({ organization }) => organization },
  { names: ['X-ALTBDAY'], valueOf: ({ dates }) => dates.filter(({ type }) => type === 'birthday') },
];

/**
 * `custom` without what belongs to values that `before` has and `after` no longer has: their companions, the alternatives of these
 * (RFC 6350, 5.4) and other forms of the value, unless the change wrote them too.
 */
export function withoutStale(before: Content, after: Content): CardProperty[] {
  if (after.custom.length === 0) return after.custom;
  const custom = withoutOtherForms(before, after);
  if (!custom.some(({ name }) => isHeld(name))) return custom;
  const { rest: kept } = new Companions({ ...after, custom });
  const { rest: others } = new Companions({ ...before, custom: kept });
  const former = kept.filter((property) => !others.includes(property));
  const stale = new Set([
    ...former,
    ...kept.filter((property) => former.some((each) => isAlternative(each, property))),
  ]);
  return custom.filter((property) => !stale.has(property));
}

function withoutOtherForms(before: Content, after: Content): CardProperty[] {
  const names = OTHER_FORMS.flatMap((each) =>
    isDeepStrictEqual(each.valueOf(before), each.valueOf(after)) ? [] : each.names,
  );
  const isOld = (property: CardProperty): boolean =>
    names.includes(property.name) && before.custom.some((each) => isDeepStrictEqual(each, property));
  return names.length === 0 ? after.custom : after.custom.filter((property) => !isOld(property));
}

function isAlternative(one: CardProperty, other: CardProperty): boolean {
  const [id] = one.params['ALTID'] ?? [];
  return id !== undefined && one.name === other.name && other.params['ALTID']?.[0] === id;
}
