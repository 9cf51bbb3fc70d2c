import { type ContactCard, joinCards } from '../../../lib/contact-card/index.js';
import { checkCard, contentHash } from '../model/contact-values.js';
import type { ContactRow } from '../responses/contact.presenter.js';
import { cardHash, type ImportedCard } from './import-cards.js';

/** What is known of a card and its contact. */
interface Situation {
  hash: string;
  /** Hashes of the cards of the contact in the last import of the device. Empty: the device did not send it. */
  last: readonly string[];
  /** Hashes of the cards of the contact in this import. */
  given: readonly string[];
  /** This import had another card for the contact. */
  isFurther: boolean;
  /** This import created the contact, and the card is its own. */
  isNew: boolean;
  /** The contact is the last card of the device: nothing was changed here, so the device's changes are the only ones. */
  isAsSent: boolean;
  /** The card replaces the contact that the address book had before the import. */
  replaces: boolean;
}

/**
 * `keep`: the contact stays. `replace`: it gets the card and its photo. `follow`: it gets the card, and keeps its photo if the card has
 * none. `card`: the fields of both, where the card wins; `contact`: where the contact wins.
 */
type Rule = 'keep' | 'replace' | 'follow' | 'card' | 'contact';

/** How a card changes its contact. A further card of this import never removes what an earlier one has said. */
export function ruleOf({ hash, last, given, isFurther, isNew, isAsSent: asSent, replaces }: Situation): Rule {
  if (given.includes(hash)) return 'keep';
  if (replaces && !isFurther) return 'replace';
  if (last.includes(hash) && !replaces) return 'keep';
  // The contact of several cards is not one of them.
  if (asSent && last.length === 1 && !isFurther) return 'follow';
  // Without an earlier card of the device nothing shows which side is newer: the contact wins.
  return last.length > 0 || isNew ? 'card' : 'contact';
}

/** The contact with an imported card. @throws ApiError 422 for one that would be too large */
export function joined(rule: Rule, before: ContactCard, card: ContactCard): ContactCard {
  if (rule === 'keep') return before;
  if (rule === 'replace' || rule === 'follow') return card;
  return checkCard(rule === 'card' ? joinCards(card, before) : joinCards(before, card));
}

/** The photo of the contact with that of an imported card. */
export function joinedPhoto(rule: Rule, before: string | null, imported: string | null): string | null {
  if (rule === 'keep') return before;
  if (rule === 'replace') return imported;
  return rule === 'contact' ? (before ?? imported) : (imported ?? before);
}

/** True for a contact that is the only card that the device sent for it. */
export function isAsSent({ card }: ContactRow, { photo }: ImportedCard, sent: readonly string[]): boolean {
  if (sent.length !== 1) return false;
  const content = contentHash(card);
  return sent[0] === content || (photo !== null && sent[0] === cardHash(content, photo.hash));
}
