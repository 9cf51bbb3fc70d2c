import type { Card, CardAddress, CardDate, CardEntry, CardName, CardProperty } from '../card.js';
import { formatDate } from '../dates.js';
import { formatBuiltInLabel } from '../labels.js';
import { formatDataUri } from '../media.js';
import { uidToUri } from '../uids.js';
import { convertProperties } from './js-contact-properties.js';

/** A JSContact Card (RFC 9553). */
export interface JsContactCard {
  '@type': 'Card';
  version: '1.0';
  uid: string;
  [property: string]: unknown;
}

/** A property of vCard without an equivalent (RFC 9555, 2.15.1): name, parameters, type, value. */
type VcardProp = [name: string, params: Record<string, string | string[]>, type: string, value: string];

const NAME_KINDS: [keyof CardName, string][] = [
  ['prefix', 'title'],
  ['given', 'given'],
  ['middle', 'given2'],
  ['family', 'surname'],
  ['suffix', 'credential'],
];

const ADDRESS_KINDS: [keyof CardAddress, string][] = [
  ['po_box', 'postOfficeBox'],
  ['extended', 'apartment'],
  ['street', 'name'],
  ['locality', 'locality'],
  ['region', 'region'],
  ['postal_code', 'postcode'],
  ['country', 'country'],
];

const CONTEXTS = new Map([
  ['home', 'private'],
  ['work', 'work'],
]);
const FEATURES = new Map([
  ['cell', 'mobile'],
  ...['voice', 'text', 'fax', 'pager', 'textphone', 'video'].map((type): [string, string] => [type, type]),
]);

/**
 * The card as JSContact. Fields without a property of JSContact are in `vCardProps` and `vCardParams` (RFC 9555).
 * @param updated the time of the last change
 */
export function toJsContact(card: Card & { uid: string }, updated?: Date): JsContactCard {
  const { entries, single, rest } = convertProperties(card.custom);
  const props: VcardProp[] = rest.map(propOf);
  const { name, organization, job_title, photo } = card;
  const own: JsContactCard = {
    '@type': 'Card',
    version: '1.0',
    uid: uidToUri(card.uid),
    kind: card.kind,
    ...(updated && { updated: updated.toISOString().replace(/\.\d+/, '') }),
    ...((name || card.full_name) && { name: nameOf(name, card.full_name) }),
    ...mapOf('nicknames', card.nicknames, (text) => ({ name: text })),
    ...mapOf('organizations', organization ? [organization] : [], (each) => ({
      ...present('name', each.name),
      ...(each.units.length > 0 && { units: each.units.map((unit) => ({ name: unit })) }),
    })),
    ...mapOf('titles', job_title ? [job_title] : [], (text) => ({ kind: 'title', name: text })),
    ...mapOf('emails', card.emails, (email) => ({ address: email.value, ...entryOf(email) })),
    ...mapOf('phones', card.phones, (phone) => ({
      number: phone.extension ? `${phone.value} ext. ${phone.extension}` : phone.value,
      ...entryOf(phone, FEATURES),
    })),
    ...mapOf('addresses', card.addresses, (address, n) => addressOf(address, `adr${n + 1}`, props)),
    ...mapOf('links', card.urls, (url) => ({ uri: url.value, ...entryOf(url) })),
    ...mapOf('onlineServices', card.profiles, (profile) => ({
      ...present('service', profile.service),
      ...present('user', profile.user),
      ...present('uri', profile.uri),
      ...entryOf(profile),
    })),
    ...mapOf('anniversaries', anniversaries(card.dates, props), anniversaryOf),
    ...mapOf('notes', card.notes ? [card.notes] : [], (note) => ({ note })),
    ...setOf('keywords', card.categories),
    ...relatedTo(card),
    ...setOf('members', card.members.map(uidToUri)),
    ...mapOf('preferredLanguages', card.language ? [card.language] : [], (language) => ({ language })),
    ...mapOf('media', photo ? [photo] : [], (each) => ({
      kind: 'photo',
      ...('uri' in each ? each : { uri: formatDataUri(each), ...present('mediaType', each.media_type) }),
    })),
    ...(card.time_zone && { vCardProps: [...props, ['tz', {}, 'text', card.time_zone]] }),
    ...(!card.time_zone && props.length > 0 && { vCardProps: props }),
    ...single,
  };
  for (const [property, list] of entries) {
    const before = Object.values((own[property] ?? {}) as Record<string, object>);
    Object.assign(
      own,
      mapOf(property, [...before, ...list], (entry) => entry),
    );
  }
  return own;
}

const present = (key: string, value: string | null): object => (value ? { [key]: value } : {});

/** A property with one member for each entry; no property for an empty list. */
function mapOf<T>(property: string, entries: readonly T[], make: (entry: T, n: number) => object): object {
  if (entries.length === 0) return {};
  return { [property]: Object.fromEntries(entries.map((entry, n) => [`k${n + 1}`, make(entry, n)])) };
}

function setOf(property: string, texts: readonly string[]): object {
  return texts.length === 0 ? {} : { [property]: Object.fromEntries(texts.map((text) => [text, true])) };
}

function nameOf(name: CardName | null, full: string | null): object {
  const phonetic = { given: name?.phonetic_given, surname: name?.phonetic_family } as Record<
    string,
    string | null
  >;
  const components = NAME_KINDS.flatMap(([part, kind]) => {
    const value = name?.[part];
    return value ? [{ kind, value, ...present('phonetic', phonetic[kind] ?? null) }] : [];
  });
  const isPhonetic = components.some((component) => 'phonetic' in component);
  return {
    ...(components.length > 0 && { components }),
    ...present('full', full),
    ...(isPhonetic && { phoneticSystem: 'x-phonetic' }),
  };
}

/** Contexts, features, preference and label; other types are a parameter of vCard. */
function entryOf({ types, primary, label }: CardEntry, features = new Map<string, string>()): object {
  const known = (names: ReadonlyMap<string, string>): string[] =>
    types.flatMap((type) => names.get(type) ?? []);
  const others = types.filter((type) => !CONTEXTS.has(type) && !features.has(type));
  return {
    ...setOf('contexts', known(CONTEXTS)),
    ...setOf('features', known(features)),
    ...(primary && { pref: 1 }),
    ...present('label', label),
    ...(others.length > 0 && { vCardParams: { type: others } }),
  };
}

/** JSContact has no label of addresses: it is a property of vCard in the same group. */
function addressOf(address: CardAddress, group: string, props: VcardProp[]): object {
  const { label, vCardParams, ...entry } = entryOf(address) as { label?: string; vCardParams?: object };
  if (label !== undefined) props.push(['x-ablabel', { group }, 'text', label]);
  const params = { ...vCardParams, ...(label !== undefined && { group }) };
  const components = ADDRESS_KINDS.flatMap(([part, kind]) => {
    const value = address[part];
    return value ? [{ kind, value }] : [];
  });
  return {
    ...(components.length > 0 && { components }),
    ...present('full', address.formatted),
    ...present('countryCode', address.country_code),
    ...entry,
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

function anniversaryOf({ type, year, month, day }: CardDate): object {
  const parts = Object.entries({ year, month, day: month && day }).filter(([, part]) => part !== null);
  return {
    kind: type === 'birthday' ? 'birth' : 'wedding',
    date: { '@type': 'PartialDate', ...Object.fromEntries(parts) },
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
