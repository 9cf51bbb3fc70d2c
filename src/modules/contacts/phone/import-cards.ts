import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify, validate, version } from 'uuid';
import {
  type CardPatch,
  type ContactCard,
  differences,
  emptyCard,
  identityKeys,
  MAX_UID,
  patchCard,
} from '../../../lib/contact-card/index.js';
import { cutText } from '../../../lib/text/index.js';
import {
  type Card,
  type CardFields,
  type CardPhoto,
  type CardProperty,
  type CardResult,
  isAnonymous,
  withoutStale,
  withStoredSpelling,
} from '../../../lib/vcard/index.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { photoHash } from '../contact-photos.js';
import { CardFieldsInput } from '../input/contact.dto.js';
import { checkCard, contentHash, newContactCard, storedJson } from '../model/contact-values.js';
import { isOrdinary, isShallow, limitedCard, limitedFields } from './card-limits.js';
import { ImportedContact, type ImportProblemResponse } from './phone.dto.js';

/** A card of an import in the stored form of contacts. */
export interface ImportedCard {
  index: number;
  uid: string;
  /** The uid that the card states, and the one that it has if that is the uid of another person. `UidsOfFile` sets them. */
  shared?: SharedUid;
  externalId: string | undefined;
  card: ContactCard;
  /** Whether the card has a name of its own: without one, the full name is made of other values. */
  isNamed: boolean;
  /** The card broke off: what it does not say may be missing from the file only. */
  isUnfinished?: true;
  /** SHA-256 of the card with its photo, hexadecimal. */
  hash: string;
  photo: ImportedPhoto | null;
  /** The names of the fields and properties that lost a part, which was beyond a limit. */
  omitted: readonly string[];
  /** What the contact lacks or may lack: values beyond a limit, the end of its card. */
  problems: ImportProblemResponse[];
}
interface SharedUid {
  stated: string;
  own: string;
  /** Whether the card is a further one of the first person with the uid, whose contact it follows. */
  isFurther: boolean;
  /** Whether cards of several people have the stated uid, as far as the file is read. */
  hasSeveral: () => boolean;
}

/** A photo as the device sent it. */
interface ImportedPhoto {
  image: Uint8Array;
  /** SHA-256, hexadecimal. */
  hash: string;
}

export type ImportEntry = ImportedCard | ImportProblemResponse;

/** @param country of telephone numbers without an international prefix */
export function fromVcard(result: CardResult, country: string | null): ImportEntry {
  const { index } = result;
  if ('error' in result) {
    const { code: error, message } = result.error;
    return { index, name: null, error, message };
  }
  const { uid, photo, ...fields } = result.card;
  const entry = entryOf(index, fields.full_name, () => {
    const whole = { ...fields, custom: withLinkedPhoto(fields.custom, photo) };
    const { card: read, omitted } = isOrdinary(whole) ? { card: whole, omitted: [] } : limitedCard(whole);
    if (omitted.length > 0) read.custom = withoutStale(whole, read);
    const isNamed = hasName(read);
    if (isAnonymous({ ...read, uid: null })) read.full_name = substituteName(read);
    const input: CardPatch = isOrdinary(read) ? read : { ...validated(CardFieldsInput, read) };
    const image = photo && 'data' in photo ? photo.data : null;
    return { uid, externalId: undefined, card: newContactCard(input, country), isNamed, image, omitted };
  });
  if (!result.isUnfinished || !('problems' in entry)) return entry;
  const problems = [...entry.problems, unfinished(index, entry.card.full_name)];
  return { ...entry, isUnfinished: true, problems };
}

/** @param plain an entry of the JSON body */
export function fromJson(index: number, plain: unknown, country: string | null): ImportEntry {
  const name = (plain as { full_name?: unknown } | null)?.full_name;
  return entryOf(index, typeof name === 'string' ? cutText(name, 200) : null, () => {
    const { contact, omitted } = validContact(plain);
    const { uid = null, external_id: externalId, ...fields } = contact;
    const card = patchCard(fields, emptyCard(), country);
    const isUnnamed = isAnonymous({ ...card, uid: null }) && differences(emptyCard(), card).length > 0;
    const named = isUnnamed ? { ...card, full_name: substituteName(card) } : card;
    return { uid, externalId, card: checkCard(named), isNamed: hasName(fields), image: null, omitted };
  });
}

const hasName = ({ full_name, name }: { full_name?: unknown; name?: unknown }): boolean =>
  Boolean(full_name) || Boolean(name);

/** An entry of the JSON body, without what is beyond a limit. @throws ApiError 422 for other faults */
function validContact(plain: unknown): { contact: ImportedContact; omitted: string[] } {
  try {
    return { contact: validated(ImportedContact, plain), omitted: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || !isShallow(plain)) throw error;
    const { fields, omitted } = limitedFields(plain);
    if (omitted.length === 0) throw error;
    return { contact: validated(ImportedContact, { ...plain, ...fields }), omitted };
  }
}

function entryOf(
  index: number,
  name: string | null,
  make: () => {
    uid: string | null;
    externalId: string | undefined;
    card: ContactCard;
    isNamed: boolean;
    image: Uint8Array | null;
    omitted: string[];
  },
): ImportEntry {
  try {
    const { uid, externalId, card, isNamed, image, omitted } = make();
    const photo = image && { image, hash: photoHash(image) };
    const content = contentHash(storedJson(card));
    const whole = hashOf(card, photo);
    const problems = omitted.map((field) => omission(index, card.full_name, field));
    const own = storedUid(uid, content);
    return { index, uid: own, externalId, card, isNamed, hash: whole, photo, omitted, problems };
  } catch (error) {
    return problemOf(index, name, error);
  }
}

/** Why a card cannot be imported. @throws the error when it is none of the input */
export function problemOf(index: number, name: string | null, error: unknown): ImportProblemResponse {
  if (!(error instanceof ApiError)) throw error;
  const [problem] = error.extras.details ?? [];
  const code =
    error.kind === Errors.validationFailed && problem?.field === '' ? problem.code : error.kind.code;
  return { index, name, error: code, message: problem?.message ?? error.message };
}

const hashOf = (card: ContactCard, photo: ImportedPhoto | null): string => {
  const content = contentHash(storedJson(card));
  return photo ? cardHash(content, photo.hash) : content;
};

/** The card with the properties that its contact has in the spelling of another version of vCard as they are stored there. */
export function inSpellingOf(imported: ImportedCard, contact: ContactCard): ImportedCard {
  const custom = withStoredSpelling(imported.card.custom, contact.custom);
  if (isDeepStrictEqual(custom, imported.card.custom)) return imported;
  const card = { ...imported.card, custom };
  return { ...imported, card, hash: hashOf(card, imported.photo) };
}

/** The hash of a card with its photo from their hashes. */
export const cardHash = (content: string, photo: string): string => contentHash(content + photo);

const UIDS = Buffer.from(parse('5f0b9d3c-7c62-5c0e-9a36-2d7a1f0c8e11'));

/** A card without a uid gets a hash of its content as the uid, so that a repeated import finds its contact. */
function storedUid(uid: string | null, content: string): string {
  if (uid === null) return nameBased(content);
  return uid.length <= MAX_UID && isStorable(uid) ? uid : nameBased(uid);
}

/** Names, addresses and numbers of a card that are compared with those of other cards with its uid. */
const MAX_KEYS = 20;

/**
 * The uids of one import. Some programs write one uid into all cards of a file. A card is that of another person if it has neither the name
 * nor an address nor a number of the first card with its uid; it gets a uid of its own, which a repeated import finds in any order.
 */
export class UidsOfFile {
  /** The first person with each uid. */
  private readonly first = new Map<string, { keys: readonly string[]; own: string }>();
  /** Uids of several people. */
  private readonly several = new Set<string>();

  /** The card, with a uid of its own if it needs one. */
  assign(card: ImportedCard): ImportedCard {
    if (card.externalId !== undefined) return card;
    const { index, uid, hash: content, problems } = card;
    const keys = keysOf(card.card);
    const first = this.first.get(uid);
    const own = nameBased(`${uid}\n${keys[0] ?? content}`);
    if (!first?.keys.length) this.first.set(uid, { keys, own: first?.own ?? own });
    const isFurther = first !== undefined && canBeOne(first.keys, keys);
    const shared: SharedUid = {
      stated: uid,
      own: isFurther ? first.own : own,
      isFurther,
      hasSeveral: () => this.several.has(uid),
    };
    if (!first || isFurther) return { ...card, shared };
    this.several.add(uid);
    const name = card.card.full_name;
    const message =
      'The contact was imported under a uid of its own: another contact of the file has its uid.';
    return {
      ...card,
      uid: own,
      shared,
      problems: [...problems, { index, name, error: 'uid_not_unique', message }],
    };
  }
}

const NAME = '=';

/** The name of a card, and its addresses and numbers. */
function keysOf(card: ContactCard): string[] {
  const keys = identityKeys(card).filter((key) => card.full_name !== NO_NAME || !key.startsWith(NAME));
  const numbers = card.phones.map(({ value }) => value.replaceAll(/\P{Nd}/gu, '')).filter(Boolean);
  const isName = (key: string): boolean => key.startsWith(NAME);
  return [...keys.filter(isName), ...keys.filter((key) => !isName(key)), ...numbers].slice(0, MAX_KEYS);
}

/** Whether two cards with the same uid may describe one person. A card without a key matches every person. */
function canBeOne(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 || b.length === 0 || b.some((key) => a.includes(key))) return true;
  // Two names alone are those of one person who was renamed.
  return [...a, ...b].every((key) => key.startsWith(NAME));
}

/** Whether a card can be that of the person of a contact with the uid that it states. */
export const isSamePerson = (card: ContactCard, contact: ContactCard): boolean =>
  canBeOne(keysOf(contact), keysOf(card));

/** Whether a uid was derived from a card without one. */
export const isDerivedUid = (uid: string): boolean => validate(uid) && version(uid) === 5;

/** A UUID of version 5 (RFC 9562, 5.5). The function of `uuid` computes SHA-1 in JavaScript, which takes longer than reading a card. */
function nameBased(name: string): string {
  const bytes = hash('sha1', Buffer.concat([UIDS, Buffer.from(name)]), 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return stringify(bytes);
}

/** The URL of a photo on another server is kept as a property with its parameters; the server does not download it. */
function withLinkedPhoto(custom: Card['custom'], photo: CardPhoto | null): Card['custom'] {
  if (!photo || !('uri' in photo)) return custom;
  const isLink = ({ name, value }: CardProperty): boolean => name === 'PHOTO' && value === photo.uri;
  const { group = null, params = {} } = custom.find(isLink) ?? {};
  const link = { group, name: 'PHOTO', params: { VALUE: ['uri'], ...params }, value: photo.uri };
  return [...custom.filter((property) => !isLink(property)), link];
}

/** The name of a card without name, address and number: telephones show such contacts, too. */
function substituteName({ addresses, profiles, urls, related, notes }: Omit<CardFields, 'uid'>): string {
  const texts = [
    ...addresses.map((each) => each.formatted ?? each.street ?? each.locality ?? each.country),
    ...profiles.map(({ user, uri }) => user ?? uri),
    ...urls.map(({ value }) => value),
    ...related.map(({ name }) => name),
    notes,
  ];
  const [line] = (texts.find(Boolean) ?? '').split('\n', 1);
  return cutText(line?.trim() ?? '', 200) || NO_NAME;
}

/** The name of an imported card that has none and nothing to derive one from. */
const NO_NAME = 'No name';

function omission(index: number, name: string | null, field: string): ImportProblemResponse {
  return {
    index,
    name,
    error: 'value_too_large',
    message: `The contact was imported without a part of ${field}, which is beyond a limit.`,
  };
}

function unfinished(index: number, name: string | null): ImportProblemResponse {
  const message =
    'The contact was imported, but its card has no END:VCARD: a part of the file may be missing.';
  return { index, name, error: 'unfinished_card', message };
}
