import type { CardProperty } from '../card.js';
import { parseDate } from '../dates.js';
import { geoUri, lineOf, splitEscaped, unescapeText } from '../values.js';
import { calendarScaleOf, type Entry, entry, timeZoneOf, utcTime } from './js-contact-entries.js';

/** What the properties of `custom` are in JSContact (RFC 9555, section 2). */
export interface ConvertedProperties {
  /** Entries by the property of JSContact that has them, e.g. `media`. */
  entries: Map<string, Entry[]>;
  /** Properties with one value, e.g. `created`. */
  single: Record<string, unknown>;
  /** Places of the birth and the death by kind. */
  places: Map<string, { place: object; source: CardProperty }>;
  /** Other names than the first one: N and FN. */
  names: CardProperty[];
  /** Properties without an equivalent. */
  rest: CardProperty[];
}

/** The property, its kind, and the member that has the value. */
type Target = [property: string, kind: string | null, member: string];

const TARGETS = new Map<string, Target>([
  ['TITLE', ['titles', 'title', 'name']],
  ['ROLE', ['titles', 'role', 'name']],
  ['PHOTO', ['media', 'photo', 'uri']],
  ['LOGO', ['media', 'logo', 'uri']],
  ['SOUND', ['media', 'sound', 'uri']],
  ['SOURCE', ['directories', 'entry', 'uri']],
  ['ORG-DIRECTORY', ['directories', 'directory', 'uri']],
  ['KEY', ['cryptoKeys', null, 'uri']],
  ['CALURI', ['calendars', 'calendar', 'uri']],
  ['FBURL', ['calendars', 'freeBusy', 'uri']],
  ['CALADRURI', ['schedulingAddresses', null, 'uri']],
  ['CONTACT-URI', ['links', 'contact', 'uri']],
  ['EXPERTISE', ['personalInfo', 'expertise', 'value']],
  ['HOBBY', ['personalInfo', 'hobby', 'value']],
  ['INTEREST', ['personalInfo', 'interest', 'value']],
  ['LANG', ['preferredLanguages', null, 'language']],
  ['PRONOUNS', ['pronouns', null, 'pronouns']],
  ['GEO', ['addresses', null, 'coordinates']],
  ['TZ', ['addresses', null, 'timeZone']],
]);

const GENDERS = new Set(['animate', 'common', 'feminine', 'inanimate', 'masculine', 'neuter']);
const URI = /^[a-z][a-z0-9+.-]*:/i;

export function convertProperties(properties: readonly CardProperty[]): ConvertedProperties {
  const converted: ConvertedProperties = {
    entries: new Map(),
    single: {},
    places: new Map(),
    names: [],
    rest: [],
  };
  for (const property of properties) {
    const isConverted =
      convertName(property, converted) ||
      convertEntry(property, converted) ||
      convertOrganization(property, converted) ||
      convertNicknames(property, converted) ||
      convertLife(property, converted) ||
      convertSingle(property, converted.single);
    if (!isConverted) converted.rest.push(property);
  }
  return converted;
}

function add({ entries }: ConvertedProperties, property: string, made: Entry): true {
  const list = entries.get(property);
  if (list) list.push(made);
  else entries.set(property, [made]);
  return true;
}

/** Names in other languages. */
function convertName(property: CardProperty, { names }: ConvertedProperties): boolean {
  const isName = property.name === 'N' || property.name === 'FN';
  if (!isName || !property.params['ALTID']?.length || !property.params['LANGUAGE']?.length) return false;
  names.push(property);
  return true;
}

function convertEntry(source: CardProperty, converted: ConvertedProperties): boolean {
  const [property, kind, member] = TARGETS.get(source.name) ?? [];
  if (!property || !member || !source.value) return false;
  const value = valueOf(member, source.value);
  return value === undefined
    ? false
    : add(converted, property, entry(property, { ...(kind && { kind }), [member]: value }, source));
}

/** The value of a member; undefined for a value of another kind, e.g. the bytes of a key in base64, which are no URI. */
function valueOf(member: string, text: string): string | undefined {
  switch (member) {
    case 'uri':
      return URI.test(text) ? text : undefined;
    case 'coordinates':
      return geoUri(text);
    case 'timeZone':
      return timeZoneOf(unescapeText(text));
    default:
      return unescapeText(text);
  }
}

/** An organization with its units. SORT-AS has a text for each of them. */
export function organization(name: string | null, units: readonly string[], source?: CardProperty): Entry {
  const [sortAs, ...ofUnits] = sortTexts(source);
  const value = {
    ...(name && { name }),
    ...(sortAs && { sortAs }),
    ...(units.length > 0 && {
      units: units.map((unit, n) => ({ name: unit, ...(ofUnits[n] && { sortAs: ofUnits[n] }) })),
    }),
  };
  return entry('organizations', value, source, ['SORT-AS']);
}

/** The texts of SORT-AS, in quotes or not. */
export const sortTexts = (source: CardProperty | undefined): string[] =>
  (source?.params['SORT-AS'] ?? []).flatMap((text) => text.split(',')).map((text) => text.trim());

function convertOrganization(source: CardProperty, converted: ConvertedProperties): boolean {
  if (source.name !== 'ORG') return false;
  const [name = null, ...units] = splitEscaped(source.value, ';').map(lineOf);
  const known = units.filter((unit) => unit !== null);
  return name !== null || known.length > 0
    ? add(converted, 'organizations', organization(name, known, source))
    : false;
}

function convertNicknames(source: CardProperty, converted: ConvertedProperties): boolean {
  if (source.name !== 'NICKNAME') return false;
  for (const text of splitEscaped(source.value, ',').flatMap((part) => lineOf(part) ?? []))
    add(converted, 'nicknames', entry('nicknames', { name: text }, source));
  return true;
}

/** Places of birth and death, and the date of the death. */
function convertLife(source: CardProperty, converted: ConvertedProperties): boolean {
  const { name, value, params } = source;
  if (name === 'DEATHDATE') {
    const time = utcTime(value);
    if (time) {
      const made = { kind: 'death', date: { '@type': 'Timestamp', utc: time } };
      return add(converted, 'anniversaries', entry('anniversaries', made, source));
    }
    const date = params['VALUE']?.[0]?.toLowerCase() === 'text' ? undefined : parseDate(value);
    if (!date || (date.month === null ? date.year : (date.year ?? date.day)) === null) return false;
    const parts = Object.entries({ ...date, day: date.month && date.day }).filter(
      ([, part]) => part !== null,
    );
    const made = { '@type': 'PartialDate', ...Object.fromEntries(parts), ...calendarScaleOf(source) };
    return add(
      converted,
      'anniversaries',
      entry('anniversaries', { kind: 'death', date: made }, source, ['CALSCALE']),
    );
  }
  const kind = { BIRTHPLACE: 'birth', DEATHPLACE: 'death' }[name];
  const isTranslation = Boolean(params['ALTID']?.length);
  if (!kind || converted.places.has(kind) || isTranslation) return false;
  const geo = geoUri(value);
  const place = geo ? { coordinates: geo } : { full: unescapeText(value) };
  converted.places.set(kind, { place, source });
  return true;
}

/** A second property of the same name, and one with parameters, e.g. for another language, stays a property of vCard. */
function convertSingle(
  { group, name, params, value }: CardProperty,
  single: Record<string, unknown>,
): boolean {
  if (group || Object.keys(params).some((key) => key !== 'VALUE')) return false;
  const set = (key: string, made: unknown): boolean => {
    if (made === undefined || key in single) return false;
    single[key] = made;
    return true;
  };
  const lower = value.toLowerCase();
  switch (name) {
    case 'CREATED':
      return set('created', utcTime(value));
    case 'LANGUAGE':
      return set('language', /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(value) ? value : undefined);
    case 'KIND':
      return set('kind', lower === 'device' || lower === 'application' ? lower : undefined);
    case 'GRAMGENDER':
      return set('grammaticalGender', GENDERS.has(lower) ? lower : undefined);
    default:
      return false;
  }
}
