import {
  ADDRESS_PARTS,
  type Card,
  type CardAddress,
  type CardDate,
  type CardEntry,
  type CardProfile,
  type CardProperty,
  type CardRelated,
  isMessenger,
  uidToUri,
} from '../card.js';
import { agentCard, escapeText, formatBuiltInLabel, typeToken } from '../values.js';
import { APPLE_YEAR, formatDate } from '../dates.js';
import { entryKeys } from '../companions.js';
import { type CardWriter, escapeUri, groupOf, joinParts, type ParamList } from './lines.js';

/** The entries of lists: addresses, numbers, accounts, dates, related persons. */

export function writeContactData(writer: CardWriter, card: Card): void {
  const { companions } = writer;
  for (const email of card.emails)
    writeEntry(
      writer,
      companions.of(() => entryKeys.emails(email)),
      'EMAIL',
      escapeText(email.value),
      email,
    );
  for (const phone of card.phones) {
    const text = phone.extension ? `${phone.value} ext. ${phone.extension}` : phone.value;
    writeEntry(
      writer,
      companions.of(() => entryKeys.phones(phone)),
      'TEL',
      escapeText(text),
      phone,
    );
  }
  for (const address of card.addresses) writeAddress(writer, address);
  for (const url of card.urls)
    writeEntry(
      writer,
      companions.of(() => entryKeys.urls(url)),
      'URL',
      escapeUri(url.value),
      url,
    );
  for (const profile of card.profiles) writeProfile(writer, profile);
}

function writeEntry(
  writer: CardWriter,
  companion: CardProperty | undefined,
  name: string,
  value: string,
  entry: CardEntry,
): void {
  writer.addField(
    companion,
    name,
    value,
    typeParams(entry, writer.version),
    labelGroup(writer, entry, companion),
  );
}

function typeParams(
  { types, primary }: CardEntry,
  version: CardWriter['version'],
  more: readonly string[] = [],
): ParamList {
  const tokens = (more.length > 0 ? [...more, ...types] : types).map(typeToken).filter(Boolean);
  if (version === '4.0') return { TYPE: tokens, PREF: primary ? '1' : null };
  return { TYPE: primary ? [...tokens, 'pref'] : tokens };
}

/** The group that connects the entry with its label and with the properties of the group of its companion; null for none. */
function labelGroup(
  writer: CardWriter,
  { label }: CardEntry,
  companion: CardProperty | undefined,
): string | null {
  const group = companion ? groupOf(companion) : null;
  return label ? writer.addLabel(label, group) : group;
}

function writeAddress(writer: CardWriter, address: CardAddress): void {
  const value = joinParts(
    ADDRESS_PARTS.map((part) => address[part]),
    ';',
  );
  const companion = writer.companions.of(() => entryKeys.addresses(address));
  const params = typeParams(address, writer.version);
  const { country_code: code, formatted } = address;
  let group = labelGroup(writer, address, companion);
  if (writer.version === '4.0') {
    const label = formatted?.replaceAll('\\', '\\\\');
    writer.addField(companion, 'ADR', value, { ...params, CC: code, LABEL: label }, group);
    return;
  }
  if (code || formatted) group ??= writer.newGroup();
  writer.addField(companion, 'ADR', value, params, group);
  writer.addText('X-ABADR', code?.toLowerCase() ?? null, {}, group);
  writer.addText('LABEL', formatted, params, group);
}

/** An account with a scheme of instant messaging is IMPP, any other one SOCIALPROFILE (RFC 9554) or Apple's X-SOCIALPROFILE. */
function writeProfile(writer: CardWriter, profile: CardProfile): void {
  const { version } = writer;
  const { service, user, uri } = profile;
  const companion = writer.companions.of(() => entryKeys.profiles(profile));
  const group = labelGroup(writer, profile, companion);
  const isNew = version === '4.0';
  const isImpp = companion?.name === 'IMPP' || isMessenger(uri);
  const names: ParamList = isNew
    ? { 'SERVICE-TYPE': service, USERNAME: uri && user }
    : { 'X-SERVICE-TYPE': service, 'X-USER': user };
  const params = { ...names, ...typeParams(profile, version) };
  const add = (name: string, value: string, more: ParamList): void =>
    writer.addField(companion, name, value, more, group);
  if (uri && isImpp) add('IMPP', escapeUri(uri), params);
  else if (uri && (isNew || !service)) add('SOCIALPROFILE', escapeUri(uri), params);
  else if (isNew || !service) add('SOCIALPROFILE', escapeText(user ?? ''), { VALUE: 'text', ...params });
  else {
    const value = uri ? escapeUri(uri) : `x-apple:${encodeURIComponent(user ?? '')}`;
    add('X-SOCIALPROFILE', value, { ...typeParams(profile, version, [service]), ...names });
  }
}

export function writeDate(writer: CardWriter, date: CardDate, isFirst: boolean): void {
  const isNew = writer.version === '4.0';
  const companion = writer.companions.of(() => entryKeys.dates(date));
  const isYearless = !isNew && date.year === null && date.month !== null && date.day !== null;
  const text = formatDate(isYearless ? { ...date, year: APPLE_YEAR } : date, !isNew);
  const params = { 'X-APPLE-OMIT-YEAR': isYearless ? String(APPLE_YEAR) : null };
  if (date.type === 'birthday' && isFirst) writer.addField(companion, 'BDAY', text, params);
  else if (date.type === 'anniversary' && isFirst && isNew)
    writer.addField(companion, 'ANNIVERSARY', text, params);
  else {
    const label = date.label ?? formatBuiltInLabel(date.type);
    const group = writer.addLabel(label, companion ? groupOf(companion) : null);
    writer.addField(companion, 'X-ABDATE', text, params, group);
  }
}

export function writeRelated(writer: CardWriter, related: CardRelated): void {
  const { type, name, uri } = related;
  const { version } = writer;
  const companion = writer.companions.of(() => entryKeys.related(related));
  const agent = type === 'agent' && uri ? agentCard(uri) : undefined;
  const types = { TYPE: type ? typeToken(type) : null };
  if (version === '3.0' && agent !== undefined) writer.addText('AGENT', agent);
  else if (uri) writer.addField(companion, 'RELATED', escapeUri(uidToUri(uri)), { ...types, 'X-NAME': name });
  else if (version === '4.0')
    writer.addField(companion, 'RELATED', escapeText(name ?? ''), { ...types, VALUE: 'text' });
  else {
    const wanted = companion ? groupOf(companion) : null;
    const group = type ? writer.addLabel(formatBuiltInLabel(type), wanted) : (wanted ?? writer.newGroup());
    writer.addField(companion, 'X-ABRELATEDNAMES', escapeText(name ?? ''), {}, group);
  }
}
