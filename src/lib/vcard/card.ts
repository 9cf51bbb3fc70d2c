export type VcardErrorCode =
  /** The input contains no vCard. */
  | 'no_card'
  /** The card has no END:VCARD. */
  | 'unfinished_card'
  /** The card is longer than `ReadLimits.cardBytes`, or has too many properties. */
  | 'card_too_large'
  /** The card has a VERSION other than 2, 3 and 4. */
  | 'unsupported_version'
  /** The card has no property with a value. */
  | 'empty_card'
  /** The value is no JSContact Card of RFC 9553. */
  | 'invalid_jscontact';

/** A card that cannot be read. */
export class VcardError extends Error {
  override readonly name = 'VcardError';

  constructor(
    readonly code: VcardErrorCode,
    message: string,
  ) {
    super(message);
  }
}

const URN = /^urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `urn:uuid:` is the spelling of a UUID in vCard 4.0; cards have it without. */
export function uidOf(text: string): string {
  return URN.exec(text)?.[1] ?? text;
}

export function uidToUri(uid: string): string {
  return UUID.test(uid) ? `urn:uuid:${uid}` : uid;
}

/** Apple writes this before the uid of each member of a group, also before a uid that is no UUID. The card of the member has the uid alone. */
const APPLE_MEMBER = /^urn:uuid:(?=.)/i;
/** Uids that are URIs have no other one around them. */
const URI = /^(?:urn|mailto|https?):/i;

/** The uid of a member of a group from X-ADDRESSBOOKSERVER-MEMBER. */
export const memberOfApple = (text: string): string => text.replace(APPLE_MEMBER, '');

export const memberToApple = (uid: string): string => (URI.test(uid) ? uid : `urn:uuid:${uid}`);

/** The kinds of RFC 6350, 6.1.4. A card with another kind is an `individual` and keeps its kind in `custom`. */
export const CARD_KINDS = ['individual', 'group', 'org', 'location'] as const;
export type CardKind = (typeof CARD_KINDS)[number];

export interface CardName {
  prefix: string | null;
  given: string | null;
  middle: string | null;
  family: string | null;
  suffix: string | null;
  phonetic_given: string | null;
  phonetic_family: string | null;
}

/** The components of N in the order of RFC 6350, 6.2.2. */
export const NAME_PARTS = [
  'family',
  'given',
  'middle',
  'prefix',
  'suffix',
] as const satisfies readonly (keyof CardName)[];

/** The common part of the entries that a card may have several of. */
export interface CardEntry {
  /** A label of the user's own words, e.g. `Summer house`. */
  label: string | null;
  /** Lower case, without duplicates, e.g. `home`, `work`, `cell`, `fax`. */
  types: string[];
  /** At most one entry of each list is primary. */
  primary: boolean;
}

/** An e-mail address or a URL. */
export interface CardValue extends CardEntry {
  value: string;
}

export interface CardPhone extends CardValue {
  /** Digits after `;ext=` of a tel URI. */
  extension: string | null;
}

export interface CardAddress extends CardEntry {
  street: string | null;
  extended: string | null;
  po_box: string | null;
  locality: string | null;
  region: string | null;
  postal_code: string | null;
  country: string | null;
  /** ISO 3166-1, two letters, upper case. */
  country_code: string | null;
  /** The whole address as on an envelope, with line breaks. */
  formatted: string | null;
}

/** The components of ADR in the order of RFC 6350, 6.3.1. */
export const ADDRESS_PARTS = [
  'po_box',
  'extended',
  'street',
  'locality',
  'region',
  'postal_code',
  'country',
] as const satisfies readonly (keyof CardAddress)[];

/** An account of instant messaging or of a social network. At least one of `user` and `uri` is present. */
export interface CardProfile extends CardEntry {
  /** The name of the service as the source spells it, e.g. `Mastodon`. */
  service: string | null;
  user: string | null;
  uri: string | null;
}

/** Schemes of instant messaging; accounts with them are IMPP properties, others are SOCIALPROFILE (RFC 9554). */
const MESSENGER_SCHEMES: ReadonlySet<string> = new Set([
  'aim',
  'discord',
  'facetime',
  'gtalk',
  'icq',
  'im',
  'irc',
  'matrix',
  'msnim',
  'pres',
  'sgnl',
  'signal',
  'sip',
  'sips',
  'skype',
  'tg',
  'threema',
  'viber',
  'whatsapp',
  // Apple writes the user of any messenger after this scheme.
  'x-apple',
  'xmpp',
  'ymsgr',
]);

/** True for the URI of an account of instant messaging. */
export const isMessenger = (uri: string | null): boolean =>
  uri !== null && MESSENGER_SCHEMES.has(uri.slice(0, uri.indexOf(':')).toLowerCase());

export const CARD_DATE_TYPES = ['birthday', 'anniversary', 'other'] as const;
export type CardDateType = (typeof CARD_DATE_TYPES)[number];

/** A calendar date; each part may be unknown, but not all three. `label` is set for `other` only. */
export interface CardDate {
  type: CardDateType;
  /** 1 to 9999. */
  year: number | null;
  month: number | null;
  day: number | null;
  label: string | null;
}

/** A related person. At least one of `name` and `uri` is present. */
export interface CardRelated {
  /** Lower case, e.g. `spouse`, `child`, `manager`; `agent` has the card of the agent as a data URI in `uri`. */
  type: string | null;
  name: string | null;
  uri: string | null;
}

export interface CardOrganization {
  name: string | null;
  units: string[];
}

/**
 * A property that the other fields cannot hold; writers write it back as it was read. A property whose value a field has keeps
 * what the field cannot hold: the group and the parameters, and further components of N and ADR (`companions.ts`).
 */
export interface CardProperty {
  /** The group before the name: `item1` in `item1.X-FOO`. */
  group: string | null;
  /** Upper case. */
  name: string;
  /** Names in upper case. */
  params: Record<string, string[]>;
  /** The value as in vCard 3.0 or 4.0: escaped, in UTF-8, without quoted-printable. */
  value: string;
}

/**
 * The content of a contact that is plain JSON, in the spelling of the API. Every member is present: `null` and `[]` mean "none".
 * Texts are not empty and use `\n` for line breaks.
 */
export interface CardFields {
  /** Without `urn:uuid:`. */
  uid: string | null;
  kind: CardKind;
  full_name: string | null;
  name: CardName | null;
  nicknames: string[];
  organization: CardOrganization | null;
  job_title: string | null;
  emails: CardValue[];
  phones: CardPhone[];
  addresses: CardAddress[];
  urls: CardValue[];
  profiles: CardProfile[];
  dates: CardDate[];
  notes: string | null;
  categories: string[];
  related: CardRelated[];
  /** The uids of the members of a group. */
  members: string[];
  /** An IANA name or an offset such as `-05:00`. */
  time_zone: string | null;
  /** BCP 47. */
  language: string | null;
  custom: CardProperty[];
}

/** A picture within the card, or the address of one. */
export type CardPhoto = { media_type: string | null; data: Uint8Array } | { uri: string };

/** A contact as vCard and JSContact represent it. */
export interface Card extends CardFields {
  photo: CardPhoto | null;
}

/** A card without content; the given members replace the empty ones. */
export function newCard(fields: Partial<Card> = {}): Card {
  return {
    uid: null,
    kind: 'individual',
    full_name: null,
    name: null,
    nicknames: [],
    organization: null,
    job_title: null,
    emails: [],
    phones: [],
    addresses: [],
    urls: [],
    profiles: [],
    dates: [],
    notes: null,
    categories: [],
    related: [],
    members: [],
    time_zone: null,
    language: null,
    custom: [],
    photo: null,
    ...fields,
  };
}

/** True for a card without name, nickname, organization, e-mail address and phone number. */
export function isAnonymous(card: CardFields): boolean {
  const texts = [
    card.full_name,
    ...Object.values(card.name ?? {}),
    card.organization?.name,
    ...card.nicknames,
  ];
  return !texts.some(Boolean) && card.emails.length === 0 && card.phones.length === 0;
}

/** Scripts of languages that write the family name first (CLDR, person names). */
const FAMILY_FIRST = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\s]+$/u;

type Order = 'family first' | 'given first';

/** The order in which people read the parts of a name. */
function orderOf({ given, middle, family }: CardName): Order {
  const own = [given, middle, family].filter((part) => part !== null);
  return FAMILY_FIRST.test(own.join(' ')) ? 'family first' : 'given first';
}

function nameText({ prefix, given, middle, family, suffix }: CardName, order: Order): string {
  const parts = order === 'family first' ? [family, given, middle] : [given, middle, family];
  return [prefix, ...parts, suffix].filter(Boolean).join(' ');
}

type Named = Pick<CardFields, 'name' | 'nicknames' | 'organization' | 'emails' | 'phones'>;

/** The name that a card without a full name gets: the best text that replaces it. */
export const deriveName = (
  { name, nicknames, organization, emails, phones }: Named,
  order = name ? orderOf(name) : undefined,
): string | null =>
  (name && order && nameText(name, order)) ||
  nicknames[0] ||
  organization?.name ||
  organization?.units[0] ||
  emails[0]?.value ||
  phones[0]?.value ||
  null;

/** Whether the full name of a card was derived from its other fields, also by a version that had one order for all names. */
export const isDerivedName = (card: Named & Pick<CardFields, 'full_name'>): boolean =>
  card.full_name === deriveName(card) || card.full_name === deriveName(card, 'given first');
