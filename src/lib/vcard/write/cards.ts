import {
  ADDRESS_PARTS,
  type Card,
  type CardAddress,
  type CardDate,
  type CardEntry,
  type CardName,
  type CardPhoto,
  type CardProfile,
  type CardProperty,
  type CardRelated,
  MESSENGER_SCHEMES,
} from '../card.js';
import { APPLE_YEAR, formatDate } from '../dates.js';
import { formatBuiltInLabel } from '../labels.js';
import { CardWriter, escapeUri, type ParamList } from './lines.js';
import { base64, formatDataUri, MEDIA_FAMILY, parseDataUri, shortType } from '../media.js';
import { agentCard } from '../agent.js';
import { cleanText, escapeText, typeToken } from '../text.js';
import { uidToUri } from '../uids.js';

export const CARD_VERSIONS = ['3.0', '4.0'] as const;
export type CardVersion = (typeof CARD_VERSIONS)[number];

export interface WriteOptions {
  version: CardVersion;
  /** The program that wrote the card, e.g. `-//Example//Contacts//EN`. */
  prodId?: string;
  /** The time of the last change. */
  revised?: Date;
}

/** The card as vCard 3.0 or 4.0, with CRLF at the end of each line. `readCard` returns the same card. */
export function writeCard(card: Card, options: WriteOptions): string {
  const { version } = options;
  const writer = new CardWriter(card.custom);
  writer.add('BEGIN', 'VCARD');
  writer.add('VERSION', version);
  writer.addText('PRODID', options.prodId ?? null);
  writeIdentity(writer, card, version);
  writeContactData(writer, card, version);
  for (const [at, date] of card.dates.entries()) {
    const isFirst = card.dates.findIndex(({ type }) => type === date.type) === at;
    writeDate(writer, date, isFirst, version);
  }
  for (const related of card.related) writeRelated(writer, related, version);
  writer.addText('NOTE', card.notes);
  if (card.categories.length > 0) writer.addParts('CATEGORIES', card.categories, ',');
  const isOffset = /^[+-]\d{2}:?\d{2}$/.test(card.time_zone ?? '');
  writer.addText('TZ', card.time_zone, { VALUE: version === '3.0' && !isOffset ? 'text' : null });
  writer.addText('LANG', card.language);
  if (card.photo) writePhoto(writer, card.photo, version);
  for (const property of card.custom) writeCustom(writer, property, version);
  if (options.revised) writer.add('REV', formatTimestamp(options.revised, version));
  writer.add('END', 'VCARD');
  return writer.text();
}

/** Version 4.0 has no hyphens and colons in times (RFC 6350, 4.3.5). */
function formatTimestamp(time: Date, version: CardVersion): string {
  const text = time.toISOString().replace(/\.\d+/, '');
  return version === '4.0' ? text.replaceAll(/[-:]/g, '') : text;
}

/** The text to show for a card: its full name, or the best text that replaces it; empty for an anonymous card. */
function displayName(card: Card): string {
  const { name } = card;
  const parts = name && [name.prefix, name.given, name.middle, name.family, name.suffix];
  const texts = [
    card.full_name,
    parts?.filter(Boolean).join(' '),
    card.organization?.name,
    card.nicknames[0],
    card.emails[0]?.value,
    card.phones[0]?.value,
  ];
  return texts.find(Boolean) ?? '';
}

function writeIdentity(writer: CardWriter, card: Card, version: CardVersion): void {
  const isNew = version === '4.0';
  if (card.uid) {
    const uri = uidToUri(card.uid);
    if (isNew) writer.addText('UID', uri, { VALUE: /^[a-z][a-z0-9+.-]*:/i.test(uri) ? null : 'text' });
    else writer.addText('UID', card.uid);
  }
  if (isNew && card.kind !== 'individual') writer.add('KIND', card.kind);
  if (!isNew && card.kind === 'org') writer.add('X-ABShowAs', 'COMPANY');
  if (!isNew && (card.kind === 'group' || card.kind === 'location'))
    writer.add('X-ADDRESSBOOKSERVER-KIND', card.kind);
  const name: Partial<CardName> = card.name ?? {};
  // Both versions require FN, version 3.0 also N.
  writer.add('FN', escapeText(displayName(card)), { DERIVED: card.full_name ? null : 'TRUE' });
  const parts = [name.family, name.given, name.middle, name.prefix, name.suffix].map((part) => part ?? null);
  if (!isNew || parts.some(Boolean)) writer.addParts('N', parts, ';');
  writer.addText('X-PHONETIC-FIRST-NAME', name.phonetic_given ?? null);
  writer.addText('X-PHONETIC-LAST-NAME', name.phonetic_family ?? null);
  if (card.nicknames.length > 0) writer.addParts('NICKNAME', card.nicknames, ',');
  const { organization } = card;
  if (organization?.name || organization?.units.length)
    writer.addParts('ORG', [organization.name, ...organization.units], ';');
  writer.addText('TITLE', card.job_title);
  for (const uid of card.members)
    writer.addText(isNew ? 'MEMBER' : 'X-ADDRESSBOOKSERVER-MEMBER', uidToUri(uid));
}

function writeContactData(writer: CardWriter, card: Card, version: CardVersion): void {
  for (const email of card.emails) {
    writer.addText('EMAIL', email.value, typeParams(email, version), labelGroup(writer, email));
  }
  for (const phone of card.phones) {
    const text = phone.extension ? `${phone.value} ext. ${phone.extension}` : phone.value;
    writer.addText('TEL', text, typeParams(phone, version), labelGroup(writer, phone));
  }
  for (const address of card.addresses) writeAddress(writer, address, version);
  for (const url of card.urls) {
    writer.add('URL', escapeUri(url.value), typeParams(url, version), labelGroup(writer, url));
  }
  for (const profile of card.profiles) writeProfile(writer, profile, version);
}

function typeParams(
  { types, primary }: CardEntry,
  version: CardVersion,
  more: readonly string[] = [],
): ParamList {
  const tokens = [...more, ...types].map(typeToken).filter(Boolean);
  if (version === '4.0') return { TYPE: tokens, PREF: primary ? '1' : null };
  return { TYPE: primary ? [...tokens, 'pref'] : tokens };
}

/** The group that connects the entry with its label; null without a label. */
function labelGroup(writer: CardWriter, { label }: CardEntry): string | null {
  if (!label) return null;
  const group = writer.newGroup();
  writer.addText('X-ABLabel', label, {}, group);
  return group;
}

function writeAddress(writer: CardWriter, address: CardAddress, version: CardVersion): void {
  const parts = ADDRESS_PARTS.map((part) => address[part]);
  const params = typeParams(address, version);
  let group = labelGroup(writer, address) ?? undefined;
  if (version === '4.0') {
    const { country_code: code, formatted } = address;
    writer.addParts(
      'ADR',
      parts,
      ';',
      { ...params, CC: code, LABEL: formatted?.replaceAll('\\', '\\\\') },
      group,
    );
    return;
  }
  if (address.country_code || address.formatted) group ??= writer.newGroup();
  writer.addParts('ADR', parts, ';', params, group);
  writer.addText('X-ABADR', address.country_code?.toLowerCase() ?? null, {}, group);
  writer.addText('LABEL', address.formatted, params, group);
}

/** An account with a scheme of instant messaging is IMPP, any other one SOCIALPROFILE (RFC 9554) or Apple's X-SOCIALPROFILE. */
function writeProfile(writer: CardWriter, profile: CardProfile, version: CardVersion): void {
  const { service, user, uri } = profile;
  const group = labelGroup(writer, profile);
  const isNew = version === '4.0';
  const scheme = uri?.slice(0, uri.indexOf(':')).toLowerCase();
  const isMessenger = scheme !== undefined && MESSENGER_SCHEMES.has(scheme);
  const names: ParamList = isNew
    ? { 'SERVICE-TYPE': service, USERNAME: uri && user }
    : { 'X-SERVICE-TYPE': service, 'X-USER': user };
  const params = { ...names, ...typeParams(profile, version) };
  if (uri && isMessenger) writer.add('IMPP', escapeUri(uri), params, group);
  else if (uri && (isNew || !service)) writer.add('SOCIALPROFILE', escapeUri(uri), params, group);
  else if (isNew || !service) writer.addText('SOCIALPROFILE', user, { VALUE: 'text', ...params }, group);
  else {
    const value = uri ? escapeUri(uri) : `x-apple:${encodeURIComponent(user ?? '')}`;
    const types = typeParams(profile, version, [service]);
    writer.add('X-SOCIALPROFILE', value, { ...types, ...names }, group);
  }
}

function writeDate(writer: CardWriter, date: CardDate, isFirst: boolean, version: CardVersion): void {
  const isNew = version === '4.0';
  const isYearless = !isNew && date.year === null && date.month !== null && date.day !== null;
  const text = formatDate(isYearless ? { ...date, year: APPLE_YEAR } : date, !isNew);
  const params = { 'X-APPLE-OMIT-YEAR': isYearless ? String(APPLE_YEAR) : null };
  if (date.type === 'birthday' && isFirst) writer.add('BDAY', text, params);
  else if (date.type === 'anniversary' && isFirst && isNew) writer.add('ANNIVERSARY', text, params);
  else {
    const group = writer.newGroup();
    writer.add('X-ABDATE', text, params, group);
    writer.addText('X-ABLabel', date.label ?? formatBuiltInLabel(date.type), {}, group);
  }
}

function writeRelated(writer: CardWriter, { type, name, uri }: CardRelated, version: CardVersion): void {
  const agent = type === 'agent' && uri ? agentCard(uri) : undefined;
  const types = { TYPE: type ? typeToken(type) : null };
  if (version === '3.0' && agent !== undefined) writer.addText('AGENT', agent);
  else if (uri) writer.add('RELATED', escapeUri(uidToUri(uri)), { ...types, 'X-NAME': name });
  else if (version === '4.0') writer.addText('RELATED', name, { ...types, VALUE: 'text' });
  else {
    const group = writer.newGroup();
    writer.addText('X-ABRELATEDNAMES', name, {}, group);
    if (type) writer.addText('X-ABLabel', formatBuiltInLabel(type), {}, group);
  }
}

function writePhoto(writer: CardWriter, photo: CardPhoto, version: CardVersion): void {
  if ('uri' in photo) writer.add('PHOTO', escapeUri(photo.uri), { VALUE: version === '3.0' ? 'uri' : null });
  else if (version === '4.0') writer.add('PHOTO', formatDataUri(photo));
  else {
    const type = photo.media_type && shortType(photo.media_type, 'image');
    writer.add('PHOTO', base64(photo.data), { ENCODING: 'b', TYPE: type });
  }
}

const RESERVED = new Set(['BEGIN', 'END', 'VERSION']);

/** Properties and parameters with invalid names are left out, and control characters of values are removed. */
function writeCustom(
  writer: CardWriter,
  { group, name, params, value }: CardProperty,
  version: CardVersion,
): void {
  if (!/^[A-Z0-9-]+$/i.test(name) || RESERVED.has(name.toUpperCase())) return;
  const cleaned = Object.entries(params).flatMap(([key, values]): [string, string[]][] => {
    const texts = values.map((text) => cleanText(text)).filter((text) => text !== null);
    return /^[A-Z0-9-]+$/i.test(key) && texts.length > 0 ? [[key, texts]] : [];
  });
  const family = MEDIA_FAMILY.get(name.toUpperCase());
  const media = version === '3.0' && family ? parseDataUri(value) : undefined;
  const validGroup = group && /^[\w-]+$/.test(group) ? group : null;
  if (media && family) {
    const type = media.media_type && shortType(media.media_type, family);
    writer.add(
      name,
      base64(media.data),
      { ENCODING: 'b', TYPE: type, ...Object.fromEntries(cleaned) },
      validGroup,
    );
    return;
  }
  const text = value.replaceAll(/\r\n?|\n/g, '\\n');
  if (cleanText(text)) writer.add(name, text, Object.fromEntries(cleaned), validGroup);
}
