import { type ContactCard, joinCards } from '../../../lib/contact-card/index.js';
import { checkCard, contentHash } from '../model/contact-values.js';
import type { ContactRow } from '../responses/contact.presenter.js';
import { cardHash, type ImportedCard } from './import-cards.js';

/** What is known of a card and its contact. */
interface Situation {
  /** This import had the card before. */
  isRepeated: boolean;
  /** The device sent the card in its last import. */
  isKnown: boolean;
  /** The device sent a card of the contact in its last import. */
  hasEarlier: boolean;
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
export function ruleOf(given: Situation): Rule {
  if (given.isRepeated) return 'keep';
  if (given.replaces && !given.isFurther) return 'replace';
  if (given.isKnown && !given.replaces) return 'keep';
  if (given.hasEarlier && given.isAsSent && !given.isFurther) return 'follow';
  // Without an earlier card of the device nothing shows which side is newer: the contact wins.
  return given.hasEarlier || given.isNew ? 'card' : 'contact';
}

/** The contact with an imported card. @throws ApiError 422 for one that would be too large */
export function joinedCard(rule: Rule, before: ContactCard, card: ContactCard): ContactCard {
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

/** True for a contact that is the card that the device sent. The contact of several cards is not one of them. */
export function isAsSent({ card }: ContactRow, { photo }: ImportedCard, sent: readonly string[]): boolean {
  if (sent.length !== 1) return false;
  const content = contentHash(card);
  return sent[0] === content || (photo !== null && sent[0] === cardHash(content, photo.hash));
}
