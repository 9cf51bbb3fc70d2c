import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  type CardField,
  type CardPatch,
  type ContactCard,
  contactWords,
  emptyCard,
  sortKey,
  patchCard,
} from '../../../lib/contact-card/index.js';
import { isAnonymous } from '../../../lib/vcard/index.js';
import type { ContactSource, Contact } from '../contacts.entity.js';
import type { ContactRow } from '../responses/contact.presenter.js';
import { fieldError } from '../contacts.resource.js';

/** The JSON text of a card. It is made once for the check, the hash and the row. */
export function storedJson(card: ContactCard): string {
  const existing = TEXTS.get(card);
  if (existing !== undefined) return existing;
  const text = JSON.stringify(card);
  TEXTS.set(card, text);
  return text;
}

/** JSON texts of cards. A card does not change after its first check. */
const TEXTS = new WeakMap<ContactCard, string>();

/** Characters of the JSON of a card. */
export const MAX_CARD = 256 * 1024;

/** @throws ApiError 422 for a card without any name, address or number, and for one that is too large */
export function checkCard(card: ContactCard): ContactCard {
  if (isAnonymous({ ...card, uid: null }))
    throw fieldError(
      '',
      'empty_contact',
      'A contact needs a name, an organization, an e-mail address or a telephone number.',
    );
  if (storedJson(card).length > MAX_CARD)
    throw fieldError('', 'contact_too_large', 'A contact may have at most 256 KiB.');
  return card;
}

/** The card of a new contact. @throws ApiError 422 */
export const newContactCard = (input: CardPatch, country: string | null): ContactCard =>
  checkCard(patchCard(input, emptyCard(), country));

/** Columns that are derived from the card. */
interface CardValues {
  kind: string;
  sort_key: string;
  /** The JSON text. */
  card: string;
  words: string[];
  /** Hexadecimal. */
  content_hash: string;
}

/** A contact to create, as `contacts_insert` reads it. */
export interface ContactInsert
  extends CardValues, Pick<Contact, 'id' | 'external_id' | 'uid' | 'source' | 'linked_user_id' | 'photo_id'> {
  /** For a contact that is restored: its former revision and those of its fields. */
  base?: number;
  field_revisions?: Record<string, number>;
}

/** New content of a contact, as `contacts_update` reads it. */
export interface ContactUpdate extends CardValues, Pick<Contact, 'id' | 'photo_id' | 'field_revisions'> {
  /** The revision that the content replaces. */
  base: number;
}

/** SHA-256 of a card, hexadecimal: equal cards have equal hashes. */
export const contentHash = (cardJson: string): string => hash('sha256', cardJson);

function cardValues(card: ContactCard): CardValues {
  const json = storedJson(card);
  return {
    kind: card.kind,
    sort_key: sortKey(card),
    card: json,
    words: contactWords(card),
    content_hash: contentHash(json),
  };
}

interface Identity {
  id?: string;
  externalId?: string;
  uid?: string;
  source?: ContactSource;
  linkedUserId?: string;
  photoId?: string | null;
}

/** @param card in its stored form */
export function contactInsert(card: ContactCard, identity: Identity = {}): ContactInsert {
  const { id = uuidv7(), externalId = id, uid = id, source = 'user' } = identity;
  const { linkedUserId = null, photoId = null } = identity;
  return {
    id,
    external_id: externalId,
    uid,
    source,
    linked_user_id: linkedUserId,
    photo_id: photoId,
    ...cardValues(card),
  };
}

/**
 * @param changed the fields of the card that differ from the row
 * @param photoId default: that of the row
 */
export function contactUpdate(
  row: ContactRow,
  card: ContactCard,
  changed: readonly CardField[],
  photoId: string | null = row.photo_id,
): ContactUpdate {
  const revision = row.revision + 1;
  const field_revisions = {
    ...row.field_revisions,
    ...Object.fromEntries(changed.map((field) => [field, revision])),
    ...(photoId !== row.photo_id && { photo: revision }),
  };
  return { id: row.id, base: row.revision, photo_id: photoId, field_revisions, ...cardValues(card) };
}
