import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { CardField, ContactCard } from './card.types.js';
import type { ContactSource } from './contact.entity.js';
import type { ContactRow } from './contact.presenter.js';
import { contactWords, sortKey } from './contact-words.js';

/** Columns that follow from the card. */
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
export interface ContactInsert extends CardValues {
  id: string;
  external_id: string;
  uid: string;
  source: ContactSource;
  linked_user_id: string | null;
}

/** New content of a contact, as `contacts_update` reads it. */
export interface ContactUpdate extends CardValues {
  id: string;
  /** The revision that the content replaces. */
  base: number;
  field_revisions: Record<string, number>;
}

/** SHA-256 of a card, hexadecimal: equal cards have equal hashes. */
export const contentHash = (cardJson: string): string => createHash('sha256').update(cardJson).digest('hex');

function cardValues(card: ContactCard): CardValues {
  const json = JSON.stringify(card);
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
}

/** @param card in its stored form */
export function contactInsert(card: ContactCard, identity: Identity = {}): ContactInsert {
  const { id = uuidv7(), externalId = id, uid = id, source = 'user', linkedUserId = null } = identity;
  return { id, external_id: externalId, uid, source, linked_user_id: linkedUserId, ...cardValues(card) };
}

/** @param changed the fields that differ from the row */
export function contactUpdate(
  row: ContactRow,
  card: ContactCard,
  changed: readonly CardField[],
): ContactUpdate {
  const revision = row.revision + 1;
  const field_revisions = {
    ...row.field_revisions,
    ...Object.fromEntries(changed.map((field) => [field, revision])),
  };
  return { id: row.id, base: row.revision, field_revisions, ...cardValues(card) };
}
