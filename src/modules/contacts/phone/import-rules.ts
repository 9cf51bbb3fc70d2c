import { type ContactCard, joinCards, joinChanges } from '../../../lib/contact-card/index.js';
import { checkCard, contentHash } from '../model/contact-values.js';
import type { ContactRow } from '../responses/contact.presenter.js';
import { cardHash, type ImportedCard } from './import-cards.js';
import type { SentValues } from './sent-values.js';

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
  /** The values of the earlier cards are known, and this import has removed none of them. */
  hasValues: boolean;
  /** The card replaces the contact that the address book had before the import. */
  replaces: boolean;
  /** The card broke off. */
  isUnfinished: boolean;
}

/**
 * `keep`: the contact stays. `replace`: it gets the card and its photo. `follow`: it gets the card, and keeps its photo if the card has
 * none. `changes`: it gets what the device has changed. `card`: the fields of both, where the card wins; `contact`: where the contact wins.
 */
type Rule = 'keep' | 'replace' | 'follow' | 'changes' | 'card' | 'contact';

/** How a card changes its contact. A further card of this import never removes what an earlier one has said, nor does one that broke off. */
export function ruleOf(given: Situation): Rule {
  if (given.isRepeated) return 'keep';
  if (given.replaces && !given.isFurther) return given.isUnfinished ? 'card' : 'replace';
  if (given.isKnown && !given.replaces) return 'keep';
  if (given.hasEarlier && given.isAsSent && !given.isFurther) return 'follow';
  // A contact that was replaced has lost what it was before the import.
  if (given.hasEarlier && given.hasValues && !given.replaces) return 'changes';
  // Without an earlier card of the device nothing shows which side is newer: the contact wins.
  return given.hasEarlier || given.isNew ? 'card' : 'contact';
}

/** The earlier cards of the device. */
interface Earlier {
  /** Undefined if they are not known. */
  values: SentValues | undefined;
  /** The card is complete, and the only one that its device, which is known, has for the contact. */
  isOnly: boolean;
}

/** The contact with an imported card. @throws ApiError 422 for one that would be too large */
export function joinedCard(
  rule: Rule,
  before: ContactCard,
  { card, isNamed }: ImportedCard,
  { values, isOnly }: Earlier,
): ContactCard {
  if (rule === 'keep') return before;
  if (rule === 'replace' || rule === 'follow') return card;
  if (rule === 'contact') return checkCard(joinCards(before, card));
  if (rule === 'card' || !values) return checkCard(joinCards(card, before));
  return checkCard(joinChanges(card, before, { wasSent: (key) => values.has(key), isOnly, isNamed }));
}

/** The photo of the contact with that of an imported card. @param imported the id of the stored photo */
export function joinedPhoto(
  rule: Rule,
  before: string | null,
  imported: string | null,
  { photo }: ImportedCard,
  { values }: Earlier,
): string | null {
  if (rule === 'keep') return before;
  if (rule === 'replace') return imported;
  // The contact may have got another photo here, or none.
  if (rule !== 'card' && rule !== 'contact' && photo && values?.hasPhoto(photo.hash)) return before;
  return rule === 'contact' ? (before ?? imported) : (imported ?? before);
}

/**
 * True for a contact that is the card that the device sent. The contact of several cards is not one of them. It does not follow a card
 * that broke off.
 */
export function isAsSent(
  { card }: ContactRow,
  { photo, isUnfinished }: ImportedCard,
  sent: readonly string[],
): boolean {
  if (sent.length !== 1 || isUnfinished) return false;
  const content = contentHash(card);
  return sent[0] === content || (photo !== null && sent[0] === cardHash(content, photo.hash));
}
