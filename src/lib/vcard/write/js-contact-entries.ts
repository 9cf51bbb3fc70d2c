import type { CardProperty } from '../card.js';

/** An object of a property of JSContact, and the property of vCard that names its language and its id. */
export interface Entry {
  value: Record<string, unknown>;
  source?: CardProperty | undefined;
}

/** Members of objects that parameters become (RFC 9555, 2.1), by the property of JSContact. */
const MEDIA = ['contexts', 'pref', 'mediaType'];
const MEMBERS: Record<string, readonly string[]> = {
  nicknames: ['contexts', 'pref'],
  organizations: ['contexts'],
  emails: ['contexts', 'pref'],
  phones: ['contexts', 'pref'],
  onlineServices: ['contexts', 'pref'],
  preferredLanguages: ['contexts', 'pref'],
  pronouns: ['contexts', 'pref'],
  schedulingAddresses: ['contexts', 'pref'],
  addresses: ['contexts', 'pref', 'coordinates', 'timeZone'],
  calendars: MEDIA,
  cryptoKeys: MEDIA,
  directories: [...MEDIA, 'listAs'],
  links: MEDIA,
  media: MEDIA,
  personalInfo: ['level', 'listAs'],
  notes: ['author', 'created'],
};

const LEVELS = new Map([
  ['beginner', 'low'],
  ['average', 'medium'],
  ['expert', 'high'],
  ...['low', 'medium', 'high'].map((level): [string, string] => [level, level]),
]);
const CONTEXTS = new Map([
  ['home', 'private'],
  ['work', 'work'],
]);
const TIMESTAMP = /^(\d{4})-?(\d\d)-?(\d\d)T?(\d\d):?(\d\d):?(\d\d)(?:\.\d+)?Z$/;

/** A time of vCard as in JSContact; undefined for other texts. */
export function utcTime(text: string): string | undefined {
  const [, year, month, day, hour, minute, second] = TIMESTAMP.exec(text) ?? [];
  return year && `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

/** The member and its value for a parameter; undefined for one without a member. */
function memberOf(key: string, [first = '', ...more]: readonly string[]): [string, unknown] | undefined {
  const number = (max: number): number | undefined =>
    /^[1-9]\d{0,8}$/.test(first) && Number(first) <= max ? Number(first) : undefined;
  const known = (name: string, value: unknown): [string, unknown] | undefined =>
    value === undefined ? undefined : [name, value];
  switch (key) {
    case 'PREF':
      return known('pref', number(100));
    case 'INDEX':
      return known('listAs', number(999_999_999));
    case 'LEVEL':
      return known('level', LEVELS.get(first.toLowerCase()));
    case 'MEDIATYPE':
      return known('mediaType', first || undefined);
    case 'GEO':
      return known('coordinates', first.startsWith('geo:') ? first : undefined);
    case 'TZ':
      return known('timeZone', timeZoneOf(first));
    case 'CREATED':
      return known('created', utcTime(first));
    case 'AUTHOR':
      return ['author', { uri: first }];
    case 'AUTHOR-NAME':
      return ['author', { name: [first, ...more].join(',') }];
    default:
      return undefined;
  }
}

/** The name of a time zone; whole hours are a zone of `Etc`, whose sign is the opposite one. Undefined for other offsets. */
export function timeZoneOf(text: string): string | undefined {
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text) ?? [];
  if (sign === undefined) return /^[A-Za-z][\w+-]*(\/[\w+-]+)+$|^UTC$/.test(text) ? text : undefined;
  const hour = Number(hours);
  if (minutes !== '00' || hour > (sign === '+' ? 14 : 12)) return undefined;
  return hour === 0 ? 'Etc/UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${hour}`;
}

/** The calendar of a date (RFC 9553, 2.8.1); no member for none. */
export function calendarScaleOf(source: CardProperty | undefined): { calendarScale?: string } {
  const calendarScale = source?.params['CALSCALE']?.[0]?.toLowerCase();
  return calendarScale ? { calendarScale } : {};
}

/** Parameters of which other places of the conversion take care. */
const ELSEWHERE = new Set(['VALUE', 'PROP-ID']);

/** The object with the members of the parameters of the property; those without a member are in `vCardParams`. */
export function entry(
  property: string,
  value: Record<string, unknown>,
  source?: CardProperty,
  held: readonly string[] = [],
): Entry {
  if (!source) return { value };
  const members: Record<string, unknown> = {};
  const others: Record<string, string | string[]> = source.group ? { group: source.group } : {};
  const allowed = MEMBERS[property] ?? [];
  for (const [key, values] of Object.entries(source.params)) {
    if (ELSEWHERE.has(key) || held.includes(key) || values.length === 0) continue;
    const [name, converted] = memberOf(key, values) ?? [];
    if (key === 'TYPE' && allowed.includes('contexts')) {
      const types = values.flatMap((each) => each.toLowerCase().split(','));
      const contexts = types.flatMap((type) => CONTEXTS.get(type) ?? []);
      const rest = types.filter((type) => !CONTEXTS.has(type));
      if (contexts.length > 0) members['contexts'] = Object.fromEntries(contexts.map((each) => [each, true]));
      if (rest.length > 0) others['type'] = rest.length === 1 ? (rest[0] as string) : rest;
    } else if (name !== undefined && allowed.includes(name))
      members[name] =
        typeof converted === 'object' ? { ...(members[name] as object), ...converted } : converted;
    else others[key.toLowerCase()] = values.length === 1 ? (values[0] as string) : values;
  }
  const vCardParams = { ...others, ...(value['vCardParams'] as object) };
  return {
    value: { ...members, ...value, ...(Object.keys(vCardParams).length > 0 && { vCardParams }) },
    source,
  };
}

/** The main language of a card, and the changes of other languages: paths and values (RFC 9553, 2.7.1). */
export class Localizations {
  readonly patches: Record<string, Record<string, unknown>> = {};

  constructor(private readonly main: string | undefined) {}

  add(language: string, path: string, value: unknown): void {
    (this.patches[language] ??= {})[path] = value;
  }

  /** The one of several alternatives that is in the main language, or has no language, or is the first. */
  mainOf<T extends { source?: CardProperty | undefined }>(alternatives: readonly T[]): T {
    const isMain = (one: T): boolean => languageOf(one) === this.main;
    return (
      (this.main && alternatives.find(isMain)) ||
      alternatives.find((one) => languageOf(one) === undefined) ||
      (alternatives[0] as T)
    );
  }

  /** Entries by id. Alternatives in other languages (ALTID, LANGUAGE) are changes of their main entry. */
  byId(path: string, entries: readonly Entry[]): Record<string, object> {
    const translations = this.translations(entries);
    const mains = new Set(translations.values());
    const ids = new Map<Entry, string>();
    const made: Record<string, object> = {};
    for (const one of entries) {
      if (translations.has(one)) continue;
      const wanted = one.source?.params['PROP-ID']?.[0] ?? '';
      const id = /^[\w-]{1,255}$/.test(wanted) && !(wanted in made) ? wanted : freeId(made);
      ids.set(one, id);
      made[id] = mains.has(one) ? withoutLanguage(one.value) : one.value;
    }
    for (const [one, main] of translations)
      this.add(languageOf(one) as string, `${path}/${ids.get(main)}`, withoutLanguage(one.value));
    return made;
  }

  /** Alternatives in other languages, at most one for each language, with their main entries. */
  private translations(entries: readonly Entry[]): Map<Entry, Entry> {
    const found = new Map<Entry, Entry>();
    for (const [key, group] of Map.groupBy(entries, alternativeKey)) {
      if (key === '' || group.length < 2) continue;
      const main = this.mainOf(group);
      const languages = new Set([languageOf(main), undefined]);
      for (const one of group) {
        if (languages.has(languageOf(one))) continue;
        languages.add(languageOf(one));
        found.set(one, main);
      }
    }
    return found;
  }
}

function freeId(taken: object): string {
  let n = Object.keys(taken).length + 1;
  while (`k${n}` in taken) n++;
  return `k${n}`;
}

export const languageOf = ({ source }: { source?: CardProperty | undefined }): string | undefined =>
  source?.params['LANGUAGE']?.[0]?.toLowerCase();

/** Equal for the alternatives of one value; empty for a value without a language or alternatives. */
function alternativeKey({ source }: Entry): string {
  const altId = source?.params['ALTID']?.[0];
  return source && altId ? `${source.name} ${altId}` : '';
}

/** Alternatives need neither parameter: their places say the same. */
function withoutLanguage(value: Record<string, unknown>): Record<string, unknown> {
  const { vCardParams, ...members } = value;
  const { altid: _a, language: _l, ...params } = (vCardParams ?? {}) as Record<string, unknown>;
  return { ...members, ...(Object.keys(params).length > 0 && { vCardParams: params }) };
}
