import { isDeepStrictEqual } from 'node:util';
import { mailAddress, telLink } from '../../text/index.js';
import {
  ADDRESS_PARTS,
  type Card,
  CARD_KINDS,
  type CardAddress,
  type CardDate,
  type CardEntry,
  type CardKind,
  memberOfApple,
  uidOf,
} from '../card.js';
import { dateOf } from '../dates.js';
import {
  builtInLabel,
  cleanLine,
  cleanText,
  distinct,
  isUri,
  lineOf,
  type Media,
  mediaTypeOf,
  parseDataUri,
  splitEscaped,
  unescapeText,
} from '../values.js';
import type { Draft, Handler } from './draft.js';
import type { Property } from './properties.js';
import { readAgent, readMessenger, readRelated, readSocialProfile } from './relations.js';
import { VENDOR_HANDLERS } from './vendors.js';

type AddressFields = Omit<CardAddress, keyof CardEntry>;

const NO_ADDRESS: AddressFields = {
  po_box: null,
  extended: null,
  street: null,
  locality: null,
  region: null,
  postal_code: null,
  country: null,
  country_code: null,
  formatted: null,
};

/** A component may be a list, except in vCard 2.1; street and formatted address may have several lines. */
export function readAddress(draft: Draft, property: Property): boolean {
  const parts = splitEscaped(property.value, ';');
  const fields: AddressFields = { ...NO_ADDRESS };
  for (const [at, part] of ADDRESS_PARTS.entries()) fields[part] = component(parts[at], part, draft.isOld);
  fields.formatted = cleanText(unescapeText(property.params.first('LABEL') ?? ''));
  fields.country_code = countryCode(property.params.first('CC'));
  return draft.addAddress(property, Object.assign(draft.entry(property), fields));
}

function component(part: string | undefined, name: keyof AddressFields, isOld: boolean): string | null {
  if (!part) return null;
  const texts = isOld ? [part] : splitEscaped(part, ',');
  if (name !== 'street' && name !== 'extended')
    return cleanLine(texts.map(lineOf).filter(Boolean).join(', '));
  return cleanText(
    texts
      .map((text) => cleanText(unescapeText(text)))
      .filter(Boolean)
      .join(', '),
  );
}

/** The address as text of vCard 2.1 and 3.0: it belongs to the ADR of its group, or else to one with the same types. */
export function readAddressLabel(draft: Draft, property: Property): boolean {
  const formatted = cleanText(unescapeText(property.value));
  const entry = draft.entry(property);
  const address = draft.addressOf(property.group) ?? draft.nextUnlabelled(entry);
  if (address) address.formatted = formatted;
  else draft.addAddress(property, Object.assign(entry, { ...NO_ADDRESS, formatted }));
  return true;
}

/** Apple: `item1.X-ABADR:de` has the country of `item1.ADR`. */
export function readCountryCode(draft: Draft, property: Property): boolean {
  const address = draft.addressOf(property.group);
  const code = countryCode(lineOf(property.value) ?? undefined);
  if (!address || !code) return false;
  address.country_code = code;
  return true;
}

function countryCode(text: string | undefined): string | null {
  return text !== undefined && /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null;
}

/** `true` when the field was free. */
function setOnce<Key extends keyof Card>(card: Card, key: Key, value: Card[Key]): boolean {
  if (card[key] !== null || value === null) return false;
  card[key] = value;
  return true;
}

function readFullName({ card }: Draft, { value, params }: Property): boolean {
  // A text that the writer derived from other fields (RFC 9554, 4.4) is not a field of the card.
  if (params.first('DERIVED')?.toLowerCase() === 'true') return true;
  return setOnce(card, 'full_name', lineOf(value));
}

/** A structured name. A component may be a list, except in vCard 2.1. */
function readName({ card, isOld, phonetic, hasName }: Draft, { value, params }: Property): boolean {
  const text = (part: string | undefined, separator: string): string | null => {
    if (!part || isOld) return lineOf(part);
    return cleanLine(splitEscaped(part, ',').map(lineOf).filter(Boolean).join(separator));
  };
  const [family, given, middle, prefix, suffix] = splitEscaped(value, ';');
  const name = {
    prefix: text(prefix, ' '),
    given: text(given, ' '),
    middle: text(middle, ' '),
    family: text(family, ' '),
    suffix: text(suffix, ', '),
  };
  // The reading of another N (RFC 9554, 4.6). It stays a property, which has its alphabet and further parts.
  if (params.has('PHONETIC') && hasName) {
    phonetic.family ??= name.family;
    phonetic.given ??= name.given;
    return false;
  }
  if (!Object.values(name).some(Boolean)) return true;
  return setOnce(card, 'name', { ...name, phonetic_given: null, phonetic_family: null });
}

function readPhonetic(part: 'given' | 'family'): Handler {
  return ({ phonetic }, { value }) => {
    phonetic[part] ??= lineOf(value);
    return true;
  };
}

function readOrganization({ card }: Draft, { value }: Property): boolean {
  const [name = null, ...units] = splitEscaped(value, ';').map(lineOf);
  const organization = { name, units: units.filter((unit) => unit !== null) };
  if (!name && organization.units.length === 0) return true;
  return setOnce(card, 'organization', organization);
}

function readEmail(draft: Draft, property: Property): boolean {
  const value = mailAddress(lineOf(property.value) ?? '');
  return value ? draft.add('emails', draft.entry(property, ['internet']), { value }) : false;
}

/**
 * `tel:+1-555-0100;ext=12` and `+1 555 0100 ext. 12` have the extension 12. The length is limited to that of an extension in the API.
 * Earlier versions wrote the extension again after a number that names it.
 */
const EXTENSION = /(?:;ext=| ext\. ?)(\S.{0,49}?)(?: ext\. \1)?$/i;

function readPhone(draft: Draft, property: Property): boolean {
  const line = lineOf(property.value);
  const link = line ? telLink(line) : undefined;
  const text = link ? `${link.number}${link.extension ? `;ext=${link.extension}` : ''}` : line;
  const extension = (text && EXTENSION.exec(text)?.[1]) || null;
  const value = cleanLine(text?.replace(EXTENSION, ''));
  const entry = draft.entry(property);
  // Some programs write the type of JSContact.
  entry.types = distinct(entry.types.map((type) => (type === 'mobile' ? 'cell' : type)));
  return value ? draft.add('phones', entry, { value, extension }) : false;
}

function readUrl(draft: Draft, property: Property): boolean {
  const value = lineOf(property.value);
  return value ? draft.add('urls', draft.entry(property), { value }) : false;
}

function readBirthday(draft: Draft, property: Property): boolean {
  const date = dateOf(property);
  if (!date) return false;
  const birthday: CardDate = { type: 'birthday', ...date, label: null };
  const known = draft.card.dates.find(({ type }) => type === 'birthday');
  return known && !isDeepStrictEqual(known, birthday) ? false : draft.addDate(birthday);
}

/** A date of Apple or Google: its label is its type. */
function readLabelledDate(draft: Draft, property: Property): boolean {
  const date = dateOf(property);
  if (!date) return false;
  const text = draft.label(property);
  const builtIn = text === null ? 'other' : builtInLabel(text);
  const type = builtIn === 'birthday' || builtIn === 'anniversary' ? builtIn : 'other';
  const label = type !== 'other' || builtIn === 'other' ? null : (builtIn ?? text);
  return draft.addDate({ type, ...date, label });
}

function readNote({ notes }: Draft, { value }: Property): boolean {
  notes.push(unescapeText(value));
  return true;
}

function readList(key: 'nicknames' | 'categories'): Handler {
  return ({ card }, { value }) => {
    for (const text of distinct(splitEscaped(value, ',').map(lineOf))) card[key].push(text);
    return true;
  };
}

function readKind({ card }: Draft, { value }: Property): boolean {
  const kind = value.trim().toLowerCase();
  if (!(CARD_KINDS as readonly string[]).includes(kind)) return false;
  card.kind = kind as CardKind;
  return true;
}

/** Apple marks the card of a company with this property only. */
function readShowAs({ card }: Draft, { value }: Property): boolean {
  if (value.trim().toUpperCase() !== 'COMPANY' || card.kind !== 'individual') return false;
  card.kind = 'org';
  return true;
}

function readPhoto(draft: Draft, property: Property): boolean {
  const { card } = draft;
  const { value, params, binary } = property;
  if (binary) {
    const media_type = mediaTypeOf(params.first('TYPE'), 'image');
    return setPicture(draft, { media_type, data: binary });
  }
  const uri = lineOf(value);
  if (!uri || !isUri(uri)) return false;
  if (!/^data:/i.test(uri)) {
    const isPhoto = setOnce(card, 'photo', { uri });
    if (isPhoto) draft.photoLink = property;
    return isPhoto;
  }
  const media = parseDataUri(uri);
  return media && media.data.length > 0 ? setPicture(draft, media) : false;
}

/** A picture replaces a link, which becomes a property without a field. */
function setPicture(draft: Draft, picture: Media): boolean {
  const { card, photoLink } = draft;
  if (photoLink) {
    draft.keep(photoLink);
    draft.photoLink = null;
    card.photo = null;
  }
  return setOnce(card, 'photo', picture);
}

/** Japanese mobile phones write the reading of the name as a sound. */
function readSound({ phonetic }: Draft, { value, params, binary }: Property): boolean {
  if (binary || !params.types().includes('x-irmc-n')) return false;
  const [family, given] = splitEscaped(value, ';').map(lineOf);
  phonetic.family ??= family ?? null;
  phonetic.given ??= given ?? null;
  return true;
}

function readMember({ card }: Draft, { name, value }: Property): boolean {
  const uid = lineOf(value);
  if (uid) card.members.push(name === 'MEMBER' ? uidOf(uid) : memberOfApple(uid));
  return true;
}

function readUid({ card }: Draft, { value }: Property): boolean {
  const uid = lineOf(value);
  return setOnce(card, 'uid', uid && uidOf(uid));
}

const line =
  (key: 'job_title' | 'time_zone' | 'language'): Handler =>
  ({ card }, { value }) =>
    setOnce(card, key, lineOf(value));

/** The handlers by property name; a property without one is kept in `custom`. */
export const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['FN', readFullName],
  ['N', readName],
  ['X-PHONETIC-FIRST-NAME', readPhonetic('given')],
  ['X-PHONETIC-LAST-NAME', readPhonetic('family')],
  ['SOUND', readSound],
  ['NICKNAME', readList('nicknames')],
  ['ORG', readOrganization],
  ['TITLE', line('job_title')],
  ['EMAIL', readEmail],
  ['TEL', readPhone],
  ['X-MS-TEL', readPhone],
  ['ADR', readAddress],
  ['LABEL', readAddressLabel],
  ['X-ABADR', readCountryCode],
  ['URL', readUrl],
  ['IMPP', readMessenger],
  ['SOCIALPROFILE', readSocialProfile],
  ['X-SOCIALPROFILE', readSocialProfile],
  ['BDAY', readBirthday],
  ['X-ABDATE', readLabelledDate],
  ['NOTE', readNote],
  ['CATEGORIES', readList('categories')],
  ['RELATED', readRelated],
  ['X-ABRELATEDNAMES', readRelated],
  ['AGENT', readAgent],
  ['KIND', readKind],
  ['X-ADDRESSBOOKSERVER-KIND', readKind],
  ['X-ABSHOWAS', readShowAs],
  ['MEMBER', readMember],
  ['X-ADDRESSBOOKSERVER-MEMBER', readMember],
  ['UID', readUid],
  ['PHOTO', readPhoto],
  ['TZ', line('time_zone')],
  ['LANG', line('language')],
  ...VENDOR_HANDLERS,
]);
