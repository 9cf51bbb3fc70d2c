import { type ContactCard, type ContactPhone, namesExtension } from '../../../lib/contact-card/index.js';
import { type Card, type CardPhoto, type CardVersion, newCard, writeCard } from '../../../lib/vcard/index.js';
import type { ApiError } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { EnvelopeOf, ReplyOf } from '../../../platform/resources/resource.js';
import type { ContactField, Contact } from '../contacts.entity.js';
import { type ContactErrors, contactPath, CONTACTS } from '../contacts.resource.js';

/** A row of `contacts`, as far as responses need it. */
export interface ContactRow extends Pick<
  Contact,
  | 'id'
  | 'addressbook_id'
  | 'external_id'
  | 'uid'
  | 'source'
  | 'linked_user_id'
  | 'photo_id'
  | 'field_revisions'
  | 'revision'
  | 'created_at'
  | 'updated_at'
> {
  /** The JSON text of the card. */
  card: string;
  /** JSON text of `media_type`, `size`, `sha256`, `width` and `height`; null without a photo. */
  photo: string | null;
}

/** Role of a caller in an address book. */
export type BookRole = 'owner' | 'writer' | 'reader';

/** Cards of members follow their profiles: only the members change them, as their own card. */
export const canEdit = (
  role: BookRole | 'self',
  { linked_user_id }: Pick<ContactRow, 'linked_user_id'>,
): boolean => role === 'self' || (role !== 'reader' && linked_user_id === null);

export const cardOf = ({ card }: Pick<ContactRow, 'card'>): ContactCard => JSON.parse(card) as ContactCard;

/**
 * The JSON of a contact. The stored text of the card is copied, not parsed.
 * @param role in the address book; `self`: the card is that of the caller
 * @param fields to include; default: all
 */
export function contactJson(
  row: ContactRow,
  role: BookRole | 'self',
  fields?: readonly ContactField[],
): string {
  const edit = canEdit(role, row);
  const card = fields ? picked(row, fields) : row.card;
  return `{"id":"${row.id}","external_id":${JSON.stringify(row.external_id)},"uid":${JSON.stringify(row.uid)},"addressbook_id":"${row.addressbook_id}",${
    card.length > 2 ? `${card.slice(1, -1)},` : ''
  }${!fields || fields.includes('photo') ? `"photo":${photoJson(row)},` : ''}"linked_user_id":${JSON.stringify(row.linked_user_id)},"source":"${row.source}","revision":${row.revision},"created_at":"${row.created_at.toISOString()}","updated_at":"${row.updated_at.toISOString()}","permissions":{"edit":${edit},"delete":${edit && role !== 'self'}}}`;
}

function picked(row: ContactRow, fields: readonly ContactField[]): string {
  const card: Partial<ContactCard> = cardOf(row);
  return JSON.stringify(
    Object.fromEntries(fields.flatMap((field) => (field === 'photo' ? [] : [[field, card[field]]]))),
  );
}

/** The path of a photo. It changes with the photo, so that clients may cache it. */
export const photoUrl = ({
  addressbook_id,
  external_id,
  photo_id,
}: Pick<ContactRow, 'addressbook_id' | 'external_id' | 'photo_id'>): string | null =>
  photo_id && `${contactPath(addressbook_id, external_id)}/photo?v=${photo_id}`;

const photoJson = (row: ContactRow): string =>
  row.photo === null ? 'null' : `{"url":${JSON.stringify(photoUrl(row))},${row.photo.slice(1)}`;

/** Id and hash of the photo. */
export function photoOf({ photo_id: id, photo }: ContactRow): { id: string; sha256: string } | null {
  if (id === null || photo === null) return null;
  const { sha256 } = JSON.parse(photo) as { sha256: string };
  return { id, sha256 };
}

export const duplicateError = (
  kind: (typeof ContactErrors)['duplicateUid'],
  row: ContactRow,
  role: BookRole,
): ApiError => kind.with({ body: { contact: JSON.parse(contactJson(row, role)) as object } });

/** The contact with its ETag; with the Location where it is new. */
export function presentContact(row: ContactRow, role: BookRole | 'self'): ReplyOf<typeof CONTACTS, 'item'>;
export function presentContact<More extends object>(
  row: ContactRow,
  role: BookRole | 'self',
  options: { status?: number; extra: More },
): JsonReply<EnvelopeOf<typeof CONTACTS, 'item'> & More>;
export function presentContact<More extends object>(
  row: ContactRow,
  role: BookRole | 'self',
  { status, extra }: { status?: number; extra?: More } = {},
): JsonReply<EnvelopeOf<typeof CONTACTS, 'item'> & More> {
  const { id, revision, addressbook_id, external_id } = row;
  const location = status === 201 ? contactPath(addressbook_id, external_id) : undefined;
  const options = { status, location, tag: { id, revision }, extra: extra as More };
  return CONTACTS.response<More>(contactJson(row, role), options);
}

const PROD_ID = '-//Workspace//Contacts//EN';

/** A contact as a card of `lib/vcard`. */
export function vcardOf(row: Pick<ContactRow, 'card' | 'uid'>, photo: CardPhoto | null = null): Card {
  const fields = cardOf(row);
  return newCard({ ...fields, uid: row.uid, phones: fields.phones.map(phoneOf), photo });
}

/** A number that names its extension has no other one. */
const phoneOf = (phone: ContactPhone): ContactPhone =>
  namesExtension(phone) ? { ...phone, extension: null } : phone;

/** The text of a contact as vCard. */
export const vcardText = (
  row: Pick<ContactRow, 'card' | 'uid' | 'updated_at'>,
  version: CardVersion,
  photo: CardPhoto | null,
): string => writeCard(vcardOf(row, photo), { version, prodId: PROD_ID, revised: row.updated_at });
