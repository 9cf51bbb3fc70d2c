import { type Card, newCard, writeCard, type CardVersion } from '../../lib/vcard/index.js';
import { cardOf, type ContactRow } from './contact.presenter.js';

const PROD_ID = '-//Workspace//Contacts//EN';

/** A contact as a card of `lib/vcard`. */
export function vcardOf(row: Pick<ContactRow, 'card' | 'uid'>): Card {
  const { phones, ...fields } = cardOf(row);
  return newCard({ ...fields, uid: row.uid, phones: phones.map(({ e164: _e164, ...phone }) => phone) });
}

/** The text of a contact as vCard. */
export const vcardText = (row: ContactRow, version: CardVersion): string =>
  writeCard(vcardOf(row), { version, prodId: PROD_ID, revised: row.updated_at });
