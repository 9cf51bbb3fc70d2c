import { hash } from 'node:crypto';
import { parse, stringify, validate, version } from 'uuid';
import {
  type Card,
  type CardFields,
  type CardPhoto,
  type CardProperty,
  type CardResult,
  isAnonymous,
  withoutStale,
} from '../../../lib/vcard/index.js';
import { cutText } from '../../../lib/text/index.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { photoHash } from '../contact-photos.js';
import { contentHash, newContactCard, storedJson } from '../model/contact-values.js';
import { CardFieldsInput } from '../input/contact.dto.js';
import { type CardPatch, type ContactCard, MAX_UID } from '../../../lib/contact-card/index.js';
import type { ImportProblemResponse } from './phone.response.js';
import { limitedCard } from './limited-card.js';
import { isOrdinary } from './ordinary-card.js';
import { ImportedContact } from './phone.dto.js';

/** A card of an import in the stored form of contacts. */
export interface ImportedCard {
  index: number;
  uid: string;
  externalId: string | undefined;
  card: ContactCard;
  /** SHA-256 of the card with its photo, hexadecimal. */
  hash: string;
  photo: ImportedPhoto | null;
  /** What the contact lacks or may lack: values beyond a limit, the end of its card. */
  problems: ImportProblemResponse[];
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
    if (isAnonymous({ ...read, uid: null })) read.full_name = substituteName(read);
    const input: CardPatch = isOrdinary(read) ? read : { ...validated(CardFieldsInput, read) };
    const image = photo && 'data' in photo ? photo.data : null;
    return { uid, externalId: undefined, card: newContactCard(input, country), image, omitted };
  });
  if (result.isUnfinished && 'problems' in entry)
    entry.problems.push(unfinished(index, entry.card.full_name));
  return entry;
}

/** @param plain an entry of the JSON body */
export function fromJson(index: number, plain: unknown, country: string | null): ImportEntry {
  const name = (plain as { full_name?: unknown } | null)?.full_name;
  return entryOf(index, typeof name === 'string' ? cutText(name, 200) : null, () => {
    const { uid = null, external_id: externalId, ...fields } = validated(ImportedContact, plain);
    return { uid, externalId, card: newContactCard(fields, country), image: null, omitted: [] };
  });
}

function entryOf(
  index: number,
  name: string | null,
  make: () => {
    uid: string | null;
    externalId: string | undefined;
    card: ContactCard;
    image: Uint8Array | null;
    omitted: string[];
  },
): ImportEntry {
  try {
    const { uid, externalId, card, image, omitted } = make();
    const photo = image && { image, hash: photoHash(image) };
    const content = contentHash(storedJson(card));
    const whole = photo ? cardHash(content, photo.hash) : content;
    const problems = omitted.map((field) => omission(index, card.full_name, field));
    return { index, uid: storedUid(uid, content), externalId, card, hash: whole, photo, problems };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [problem] = error.extras.details ?? [];
    const code =
      error.kind === Errors.validationFailed && problem?.field === '' ? problem.code : error.kind.code;
    return { index, name, error: code, message: problem?.message ?? error.message };
  }
}

/** The hash of a card with its photo from their hashes. */
export const cardHash = (content: string, photo: string): string => contentHash(content + photo);

const UIDS = Buffer.from(parse('5f0b9d3c-7c62-5c0e-9a36-2d7a1f0c8e11'));

/** A card without a uid gets a hash of its content as the uid, so that a repeated import finds its contact. */
function storedUid(uid: string | null, content: string): string {
  if (uid === null) return nameBased(content);
  return uid.length <= MAX_UID && isStorable(uid) ? uid : nameBased(uid);
}

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
