import type { CardProperty } from '../card.js';
import { unescapeText } from '../text.js';

/** What the properties of `custom` are in JSContact (RFC 9555, section 2). */
export interface ConvertedProperties {
  /** Entries by the property of JSContact that has them, e.g. `media`. */
  entries: Map<string, object[]>;
  /** Properties with one value, e.g. `created`. */
  single: Record<string, unknown>;
  /** Properties without an equivalent. */
  rest: CardProperty[];
}

/** The property, its kind, and the member that has the value. */
type Target = [property: string, kind: string | null, member: 'uri' | 'name' | 'value'];

const TARGETS = new Map<string, Target>([
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
]);

const LEVELS = new Map([
  ['beginner', 'low'],
  ['average', 'medium'],
  ['expert', 'high'],
  ...['low', 'medium', 'high'].map((level): [string, string] => [level, level]),
]);
const GENDERS = new Set(['animate', 'common', 'feminine', 'inanimate', 'masculine', 'neuter']);
const TIMESTAMP = /^(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)Z$/;
const URI = /^[a-z][a-z0-9+.-]*:/i;

export function convertProperties(properties: readonly CardProperty[]): ConvertedProperties {
  const converted: ConvertedProperties = { entries: new Map(), single: {}, rest: [] };
  for (const property of properties)
    if (!convertEntry(property, converted) && !convertSingle(property, converted.single))
      converted.rest.push(property);
  return converted;
}

function convertEntry(
  { group, name, params, value }: CardProperty,
  { entries }: ConvertedProperties,
): boolean {
  const [property, kind, member] = TARGETS.get(name) ?? [];
  // A value that is no URI, e.g. the bytes of a key in base64, has no place in a resource of JSContact.
  if (!property || !member || !value || (member === 'uri' && !URI.test(value))) return false;
  const entry = {
    ...(kind && { kind }),
    [member]: member === 'uri' ? value : unescapeText(value),
    ...entryOf(params, group, property),
  };
  const list = entries.get(property);
  if (list) list.push(entry);
  else entries.set(property, [entry]);
  return true;
}

/** The members of the parameters; those without a member are in `vCardParams`. */
function entryOf(params: CardProperty['params'], group: string | null, property: string): object {
  const entry: Record<string, unknown> = {};
  const others: Record<string, string | string[]> = group ? { group } : {};
  for (const [key, values] of Object.entries(params)) {
    const [first = ''] = values;
    const level = LEVELS.get(first.toLowerCase());
    if (key === 'VALUE') continue;
    if (key === 'LEVEL' && property === 'personalInfo' && level) entry['level'] = level;
    else if (key === 'MEDIATYPE' && property !== 'titles' && property !== 'personalInfo')
      entry['mediaType'] = first;
    else if (key === 'PREF' && property !== 'titles' && /^([1-9]\d?|100)$/.test(first))
      entry['pref'] = Number(first);
    else others[key.toLowerCase()] = values.length === 1 ? first : values;
  }
  return { ...entry, ...(Object.keys(others).length > 0 && { vCardParams: others }) };
}

/** A second property of the same name, and one with parameters, e.g. for another language, stays a property of vCard. */
function convertSingle(
  { group, name, params, value }: CardProperty,
  single: Record<string, unknown>,
): boolean {
  if (group || Object.keys(params).some((key) => key !== 'VALUE')) return false;
  const time = name === 'CREATED' ? TIMESTAMP.exec(value) : null;
  if (time && !('created' in single)) {
    const [, year, month, day, hour, minute, second] = time;
    single['created'] = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
    return true;
  }
  const gender = value.toLowerCase();
  if (name === 'GRAMGENDER' && GENDERS.has(gender) && !('speakToAs' in single)) {
    single['speakToAs'] = { grammaticalGender: gender };
    return true;
  }
  return false;
}
