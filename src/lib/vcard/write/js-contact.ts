import {
  type Card,
  type CardAddress,
  type CardDate,
  type CardEntry,
  type CardPhoto,
  type CardProperty,
  isMessenger,
  uidToUri,
} from '../card.js';
import { formatDate } from '../dates.js';
import { formatBuiltInLabel, formatDataUri } from '../values.js';
import { Companions, entryKeys, keyOf } from '../companions.js';
import { calendarScaleOf, type Entry, entry, Localizations, timeZoneOf } from './js-contact-entries.js';
import { addressComponents, nameOf } from './js-contact-name.js';
import { type ConvertedProperties, convertProperties, organization } from './js-contact-properties.js';

/** A JSContact Card (RFC 9553). */
export interface JsContactCard {
  '@type': 'Card';
  version: '1.0';
  uid: string;
  [property: string]: unknown;
}

/** A property of vCard without an equivalent (RFC 9555, 2.15.1): name, parameters, type, value. */
type VcardProp = [name: string, params: Record<string, string | string[]>, type: string, value: string];

const CONTEXTS = new Map([
  ['home', 'private'],
  ['work', 'work'],
]);
/** RFC 9553, 2.5.1.1; RFC 9554, 5. */
const ADDRESS_CONTEXTS = new Map([...CONTEXTS, ['billing', 'billing'], ['delivery', 'delivery']]);
const FEATURES = new Map([
  ['cell', 'mobile'],
  ...['voice', 'text', 'fax', 'pager', 'textphone', 'video'].map((type): [string, string] => [type, type]),
]);

/**
 * The card as JSContact. Fields without a property of JSContact are in `vCardProps` and `vCardParams` (RFC 9555).
 * @param updated the time of the last change
 */
export function toJsContact(card: Card & { uid: string }, updated?: Date): JsContactCard {
  const companions = new Companions(card);
  const converted = convertProperties(companions.rest);
  const { grammaticalGender, ...single } = converted.single;
  const props: VcardProp[] = converted.rest.map(propOf);
  const localizations = new Localizations(language(single));
  const own = entriesOf(card, companions, converted, props);
  const { name: parts } = card;
  const names = {
    name: parts ? companions.of(() => entryKeys.name(parts)) : undefined,
    full: card.full_name ? companions.of(() => keyOf('full_name', card.full_name)) : undefined,
    others: converted.names,
  };
  const name = nameOf(card, names, localizations);
  const { pronouns, ...lists } = Object.fromEntries(
    Object.entries(own).flatMap(([property, entries]) => {
      const path = property === 'pronouns' ? 'speakToAs/pronouns' : property;
      return entries.length > 0 ? [[property, localizations.byId(path, entries)]] : [];
    }),
  ) as Record<string, object>;
  const speakToAs = { ...(grammaticalGender ? { grammaticalGender } : {}), ...(pronouns && { pronouns }) };
  return {
    '@type': 'Card',
    version: '1.0',
    uid: uidToUri(card.uid),
    kind: card.kind,
    ...(updated && { updated: updated.toISOString().replace(/\.\d+/, '') }),
    ...(name && { name }),
    ...lists,
    ...setOf('keywords', card.categories),
    ...relatedTo(card),
    ...setOf('members', card.members.map(uidToUri)),
    ...single,
    ...(Object.keys(speakToAs).length > 0 && { speakToAs }),
    ...(Object.keys(localizations.patches).length > 0 && { localizations: localizations.patches }),
    ...(props.length > 0 && { vCardProps: props }),
  };
}

const language = (single: Record<string, unknown>): string | undefined =>
  typeof single['language'] === 'string' ? single['language'].toLowerCase() : undefined;

/** The entries of each JSContact property that is a map: entries of fields, then of `custom`. Values without an entry are added to `props`. */
function entriesOf(
  card: Card,
  companions: Companions,
  converted: ConvertedProperties,
  props: VcardProp[],
): Record<string, Entry[]> {
  const { organization: company, job_title: title, photo, language: spoken, time_zone: zone } = card;
  const own: Record<string, Entry[]> = {
    nicknames: companions
      .lists('nicknames', card.nicknames)
      .flatMap(({ texts, companion }) => texts.map((text) => entry('nicknames', { name: text }, companion))),
    organizations: company
      ? [
          organization(
            company.name,
            company.units,
            companions.of(() => entryKeys.organization(company)),
          ),
        ]
      : [],
    titles: title
      ? [
          entry(
            'titles',
            { kind: 'title', name: title },
            companions.preferred(
              'TITLE',
              companions.of(() => keyOf('job_title', title)),
            ),
          ),
        ]
      : [],
    emails: card.emails.map((email) =>
      entry(
        'emails',
        { address: email.value, ...entryOf(email) },
        companions.of(() => entryKeys.emails(email)),
      ),
    ),
    phones: card.phones.map((phone) => {
      const number = phone.extension ? `${phone.value} ext. ${phone.extension}` : phone.value;
      const source = companions.of(() => entryKeys.phones(phone));
      return entry('phones', { number, ...entryOf(phone, FEATURES) }, source);
    }),
    addresses: card.addresses.map((address, n) => {
      const source = companions.of(() => entryKeys.addresses(address));
      return entry('addresses', addressOf(address, source, `adr${n + 1}`, props), source);
    }),
    links: card.urls.map((url) =>
      entry(
        'links',
        { uri: url.value, ...entryOf(url) },
        companions.of(() => entryKeys.urls(url)),
      ),
    ),
    onlineServices: card.profiles.map((profile) =>
      entry(
        'onlineServices',
        {
          ...present('service', profile.service),
          ...present('user', profile.user),
          ...present('uri', profile.uri),
          ...(isMessenger(profile.uri) && { vCardName: 'impp' }),
          ...entryOf(profile),
        },
        companions.of(() => entryKeys.profiles(profile)),
      ),
    ),
    anniversaries: anniversaries(card.dates, props).map((date) => {
      const source = companions.of(() => entryKeys.dates(date));
      return entry('anniversaries', anniversaryOf(date, source), source, ['CALSCALE']);
    }),
    notes: companions
      .notes(card.notes)
      .map(({ text, companion }) => entry('notes', { note: text }, companion)),
    preferredLanguages: spoken
      ? [
          entry(
            'preferredLanguages',
            { language: spoken },
            companions.preferred(
              'LANG',
              companions.of(() => keyOf('language', spoken)),
            ),
          ),
        ]
      : [],
    media: photo ? [entry('media', mediaOf(photo))] : [],
  };
  for (const [property, entries] of converted.entries)
    own[property] =
      property === 'addresses'
        ? placed(own[property] ?? [], entries)
        : [...(own[property] ?? []), ...entries];
  const zoneName = zone && timeZoneOf(zone);
  if (zone && zoneName) {
    const source = companions.of(() => keyOf('time_zone', zone));
    own['addresses'] = placed(own['addresses'] ?? [], [entry('addresses', { timeZone: zoneName }, source)]);
  } else if (zone) props.push(['tz', {}, 'text', zone]);
  addPlaces(own['anniversaries'] ?? [], converted, props);
  return own;
}

/** Addresses with coordinates and time zones: of the address of the group, or of an address of their own. */
function placed(addresses: readonly Entry[], places: readonly Entry[]): Entry[] {
  const all = [...addresses];
  for (const place of places) {
    const group = place.source?.group?.toLowerCase();
    const at = group ? all.findIndex(({ source }) => source?.group?.toLowerCase() === group) : -1;
    const found = all[at];
    if (found) all[at] = { ...found, value: { ...place.value, ...found.value } };
    else all.push(place);
  }
  return all;
}

/** The places of birth and death belong to the dates; without a date they are properties of vCard. */
function addPlaces(entries: Entry[], { places }: ConvertedProperties, props: VcardProp[]): void {
  for (const [kind, { place, source }] of places) {
    const found = entries.find(({ value }) => value['kind'] === kind);
    if (found) found.value['place'] = place;
    else props.push(propOf(source));
  }
}

const mediaOf = (photo: CardPhoto): Record<string, unknown> => ({
  kind: 'photo',
  ...('uri' in photo ? photo : { uri: formatDataUri(photo), ...present('mediaType', photo.media_type) }),
});

const present = (key: string, value: string | null): object => (value ? { [key]: value } : {});

function setOf(property: string, texts: readonly string[]): object {
  return texts.length === 0 ? {} : { [property]: Object.fromEntries(texts.map((text) => [text, true])) };
}

/** Contexts, features, preference and label; other types are a parameter of vCard. */
function entryOf(
  { types, primary, label }: CardEntry,
  features: ReadonlyMap<string, string> = new Map(),
  contexts: ReadonlyMap<string, string> = CONTEXTS,
): object {
  const known = (names: ReadonlyMap<string, string>): string[] =>
    types.flatMap((type) => names.get(type) ?? []);
  const others = types.filter((type) => !contexts.has(type) && !features.has(type));
  return {
    ...setOf('contexts', known(contexts)),
    ...setOf('features', known(features)),
    ...(primary && { pref: 1 }),
    ...present('label', label),
    ...(others.length > 0 && { vCardParams: { type: others } }),
  };
}

/** JSContact has no label of addresses: it is a property of vCard in the same group. */
function addressOf(
  address: CardAddress,
  source: CardProperty | undefined,
  ownGroup: string,
  props: VcardProp[],
): Record<string, unknown> {
  const { label, vCardParams, ...members } = entryOf(address, undefined, ADDRESS_CONTEXTS) as {
    label?: string;
    vCardParams?: object;
  };
  const group = source?.group ?? ownGroup;
  if (label !== undefined) props.push(['x-ablabel', { group }, 'text', label]);
  const params = { ...vCardParams, ...(label !== undefined && { group }) };
  const components = addressComponents(address, source);
  return {
    ...(components.length > 0 && { components }),
    ...present('full', address.formatted),
    ...present('countryCode', address.country_code),
    ...members,
    ...(Object.keys(params).length > 0 && { vCardParams: params }),
  };
}

/** Birthdays and anniversaries; other dates, and those that PartialDate cannot express, become properties of vCard. */
function anniversaries(dates: readonly CardDate[], props: VcardProp[]): CardDate[] {
  return dates.filter((date, n) => {
    if (date.type !== 'other' && isPartialDate(date)) return true;
    const group = `date${n + 1}`;
    props.push(['x-abdate', { group }, 'date-and-or-time', formatDate(date, true)]);
    props.push(['x-ablabel', { group }, 'text', date.label ?? formatBuiltInLabel(date.type)]);
    return false;
  });
}

/** A date, a year, a month of a year or a day of a month (RFC 9553, 2.8.1). */
const isPartialDate = ({ year, month, day }: CardDate): boolean =>
  month === null ? year !== null : (year ?? day) !== null;

function anniversaryOf(
  { type, year, month, day }: CardDate,
  source: CardProperty | undefined,
): Record<string, unknown> {
  const parts = Object.entries({ year, month, day: month && day }).filter(([, part]) => part !== null);
  return {
    kind: type === 'birthday' ? 'birth' : 'wedding',
    date: { '@type': 'PartialDate', ...Object.fromEntries(parts), ...calendarScaleOf(source) },
  };
}

/** Relations by URI, or by name without one. */
function relatedTo({ related }: Card): object {
  const relations = new Map<string, Record<string, boolean>>();
  for (const { type, name, uri } of related) {
    const key = uri ? uidToUri(uri) : (name ?? '');
    relations.set(key, { ...relations.get(key), ...(type && { [type]: true }) });
  }
  if (relations.size === 0) return {};
  return {
    relatedTo: Object.fromEntries([...relations].map(([key, relation]) => [key, { relation }])),
  };
}

function propOf({ group, name, params, value }: CardProperty): VcardProp {
  const lower = Object.entries(params).map(([key, values]) => [
    key.toLowerCase(),
    values.length === 1 ? values[0] : values,
  ]);
  const all = { ...Object.fromEntries(lower), ...(group && { group }) } as Record<string, string | string[]>;
  return [name.toLowerCase(), all, 'unknown', value];
}
