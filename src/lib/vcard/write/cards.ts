import {
  type Card,
  type CardDate,
  type CardPhoto,
  type CardProperty,
  deriveName,
  NAME_PARTS,
  memberToApple,
  uidToUri,
} from '../card.js';
import { Companions, entryKeys, keyOf } from '../companions.js';
import { CardWriter, escapeUri, groupOf, joinParts, oneLine, validParams } from './lines.js';
import { writeContactData, writeDate, writeRelated } from './entries.js';
import {
  ALTERNATIVE,
  base64,
  cleanText,
  escapeText,
  formatDataUri,
  geoNumbers,
  geoUri,
  isPropertyName,
  isUri,
  MEDIA_FAMILY,
  parseDataUri,
  shortType,
  WRITTEN_ONCE,
} from '../values.js';

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
  const companions = new Companions(card);
  const writer = new CardWriter(
    companions,
    version,
    version === '4.0' ? altIds(card, companions) : new Map(),
  );
  writer.add('BEGIN', 'VCARD');
  writer.add('VERSION', version);
  writer.addText('PRODID', options.prodId ?? null);
  writeIdentity(writer, card);
  writeContactData(writer, card);
  for (const [at, date] of card.dates.entries()) {
    const isFirst = card.dates.findIndex(({ type }) => type === date.type) === at;
    writeDate(writer, date, isFirst);
  }
  for (const related of card.related) writeRelated(writer, related);
  for (const { text, companion } of companions.notes(card.notes))
    writer.addField(companion, 'NOTE', escapeText(text));
  for (const { texts, companion } of companions.lists('categories', card.categories))
    writer.addField(companion, 'CATEGORIES', joinParts(texts, ','));
  writePlaceAndLanguage(writer, card);
  if (card.photo) writePhoto(writer, card.photo);
  if (companions.rest.length > 0) writeRest(writer, card);
  if (options.revised) writer.add('REV', formatTimestamp(options.revised, version));
  writer.add('END', 'VCARD');
  return writer.text();
}

/** Writes the properties of `custom` that belong to no field. */
function writeRest(writer: CardWriter, card: Card): void {
  const once = onceWritten(card, writer.version);
  for (const property of writer.companions.rest) {
    if (!once.has(property.name)) writeCustom(writer, property);
    else if (WRITTEN_ONCE.has(property.name))
      writeCustom(writer, { ...property, name: `${ALTERNATIVE}${property.name}` });
  }
}

/** Properties that a card of version 4.0 has once, or as alternatives with one ALTID (RFC 6350, 5.4). */
const ALTERNATIVES = ['N', 'BDAY', 'ANNIVERSARY', 'GENDER', 'BIRTHPLACE', 'DEATHPLACE', 'DEATHDATE'];

/** The ALTID of each such property that the card has several times. */
function altIds(card: Card, companions: Companions): Map<string, string> {
  const own = fieldsWritten(card);
  const sources = [...companions.all(), ...companions.rest];
  return new Map(
    ALTERNATIVES.flatMap((name) => {
      const rest = companions.rest.filter((property) => property.name === name);
      if (rest.length + (own.has(name) ? 1 : 0) < 2) return [];
      const given = sources.find((property) => property.name === name && property.params['ALTID']?.length);
      return [[name, given?.params['ALTID']?.[0] ?? '1']];
    }),
  );
}

/** The names of single properties that fields are written as. */
function fieldsWritten({ name, dates, uid }: Card): Set<string> {
  const has = (wanted: CardDate['type']): boolean => dates.some(({ type }) => type === wanted);
  return new Set([
    ...(name ? ['N'] : []),
    ...(uid ? ['UID'] : []),
    ...(has('birthday') ? ['BDAY'] : []),
    ...(has('anniversary') ? ['ANNIVERSARY'] : []),
  ]);
}

/** Names of properties that may not occur a second time. Version 3.0 has no alternatives. */
function onceWritten(card: Card, version: CardVersion): Set<string> {
  const own = fieldsWritten(card);
  return version === '4.0' ? new Set(own.has('UID') ? ['UID'] : []) : new Set([...own, 'FN', 'N']);
}

/** Version 4.0 has no hyphens and colons in times (RFC 6350, 4.3.5). */
function formatTimestamp(time: Date, version: CardVersion): string {
  const withFraction = time.toISOString();
  const text = `${withFraction.slice(0, withFraction.indexOf('.'))}Z`;
  return version === '4.0' ? text.replaceAll(/[-:]/g, '') : text;
}

/** The text to show for a card; empty for an anonymous one. */
const displayName = (card: Card): string => card.full_name || deriveName(card) || '';

function writeIdentity(writer: CardWriter, card: Card): void {
  const { companions } = writer;
  const isNew = writer.version === '4.0';
  if (card.uid && isNew) {
    const uri = uidToUri(card.uid);
    writer.addText('UID', uri, { VALUE: isUri(uri) ? null : 'text' });
  } else writer.addText('UID', card.uid);
  if (isNew && card.kind !== 'individual') writer.add('KIND', card.kind);
  if (!isNew && card.kind === 'org') writer.add('X-ABShowAs', 'COMPANY');
  if (!isNew && (card.kind === 'group' || card.kind === 'location'))
    writer.add('X-ADDRESSBOOKSERVER-KIND', card.kind);
  const { name, organization, job_title: title } = card;
  // Both versions require FN, version 3.0 also N.
  writer.addSingle('FN', () => keyOf('full_name', card.full_name), escapeText(displayName(card)), {
    DERIVED: card.full_name ? null : 'TRUE',
  });
  const parts = NAME_PARTS.map((part) => name?.[part] ?? null);
  const source = name ? companions.of(() => entryKeys.name(name)) : undefined;
  if (!isNew || parts.some(Boolean)) writer.addField(source, 'N', joinParts(parts, ';'));
  writer.addText('X-PHONETIC-FIRST-NAME', name?.phonetic_given ?? null);
  writer.addText('X-PHONETIC-LAST-NAME', name?.phonetic_family ?? null);
  for (const { texts, companion } of companions.lists('nicknames', card.nicknames))
    writer.addField(companion, 'NICKNAME', joinParts(texts, ','));
  if (organization?.name || organization?.units.length)
    writer.addSingle(
      'ORG',
      () => entryKeys.organization(organization),
      joinParts([organization.name, ...organization.units], ';'),
    );
  if (title) writer.addSingle('TITLE', () => keyOf('job_title', title), escapeText(title));
  for (const uid of card.members)
    writer.addField(
      companions.of(() => keyOf('members', uid)),
      isNew ? 'MEMBER' : 'X-ADDRESSBOOKSERVER-MEMBER',
      escapeText(isNew ? uidToUri(uid) : memberToApple(uid)),
    );
}

function writePlaceAndLanguage(
  writer: CardWriter,
  { time_zone: zone, language }: Pick<Card, 'time_zone' | 'language'>,
): void {
  if (zone) {
    const isOffset = /^[+-]\d{2}:?\d{2}$/.test(zone);
    writer.addSingle('TZ', () => keyOf('time_zone', zone), escapeText(zone), {
      VALUE: writer.version === '3.0' && !isOffset ? 'text' : null,
    });
  }
  if (language) writer.addSingle('LANG', () => keyOf('language', language), escapeText(language));
}

function writePhoto(writer: CardWriter, photo: CardPhoto): void {
  const isOld = writer.version === '3.0';
  if ('uri' in photo)
    writer.addSingle('PHOTO', () => keyOf('photo', photo.uri), escapeUri(photo.uri), {
      VALUE: isOld ? 'uri' : null,
    });
  else if (!isOld) writer.addSingle('PHOTO', null, formatDataUri(photo));
  else {
    const type = photo.media_type && shortType(photo.media_type, 'image');
    writer.addSingle('PHOTO', null, base64(photo.data), { ENCODING: 'b', TYPE: type });
  }
}

const RESERVED = new Set(['BEGIN', 'END', 'VERSION']);

/** Properties and parameters with invalid names are left out, and control characters of values are removed. */
function writeCustom(writer: CardWriter, property: CardProperty): void {
  const { name, value } = property;
  if (!isPropertyName(name) || RESERVED.has(name.toUpperCase())) return;
  const params = validParams(property.params);
  const family = MEDIA_FAMILY.get(name.toUpperCase());
  const media = writer.version === '3.0' && family ? parseDataUri(value) : undefined;
  const group = groupOf(property);
  if (media && family) {
    const type = media.media_type && shortType(media.media_type, family);
    writer.add(name, base64(media.data), { ENCODING: 'b', TYPE: type, ...params }, group);
    return;
  }
  const text = oneLine(name.toUpperCase() === 'GEO' ? geoOf(value, writer.version) : value);
  // In version 3.0 the values of media are bytes unless VALUE says otherwise.
  const isLink = writer.version === '3.0' && family !== undefined && isUri(text);
  const isGeo = name.toUpperCase() === 'GEO' && text !== value;
  const all = {
    ...params,
    ...(isLink && !('VALUE' in params) && { VALUE: 'uri' }),
    ...(isGeo && { VALUE: null }),
  };
  if (cleanText(text)) writer.add(name, text, all, group);
}

/** A position in the form of the version. */
const geoOf = (value: string, version: CardVersion): string =>
  (version === '4.0' ? geoUri(value) : geoNumbers(value)) ?? value;
