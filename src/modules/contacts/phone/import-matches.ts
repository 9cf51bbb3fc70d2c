import { canJoin, type ContactCard, identityKeys } from '../../../lib/contact-card/index.js';
import { Turns } from '../../../lib/turns/index.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { type ImportedCard, isDerivedUid, isSamePerson } from './import-cards.js';
import type { ImportRun } from './import-touched.js';
import type { SentCards } from './sent-values.js';

/** The contacts that the cards of a batch may have. */
export interface Known {
  byUid: Map<string, ContactRow>;
  byExternalId: Map<string, ContactRow>;
  namesakes: Namesakes;
  /** By the uid of a contact that was merged into it. */
  byFormerUid: Map<string, Former>;
  /** The cards of a contact in the last import of the device before this one. */
  sent: Map<string, SentCards>;
}

/** The contact into which another one was merged, and the id of the other one. */
interface Former {
  row: ContactRow;
  formerId: string;
}

const isName = (key: string): boolean => key.startsWith('=');
export const reachKeys = (card: ContactCard): string[] => identityKeys(card).filter((key) => !isName(key));
export const nameKeyOf = (card: ContactCard): string | undefined => identityKeys(card).find(isName);

/** Contacts by their name with an address or number: families share numbers, so that the name must be the same. */
type Namesakes = Map<string, { row: ContactRow; kind: ContactCard['kind'] }[]>;

/** @param reached addresses and numbers */
function namesakeKeys(card: ContactCard, reached: readonly string[]): string[] {
  const name = nameKeyOf(card) ?? '';
  return reached.map((key) => `${key}\n${name}`);
}

/** @param similar with the addresses and numbers of theirs that cards have. Each is parsed once: a whole company may share a number */
export async function groupNamesakes(
  similar: readonly (ContactRow & { shared: string[] })[],
): Promise<Namesakes> {
  const found: Namesakes = new Map();
  const turns = new Turns();
  for (const row of similar) {
    await turns.pause();
    const card = cardOf(row);
    const one = { row, kind: card.kind };
    for (const key of namesakeKeys(card, row.shared)) {
      const known = found.get(key);
      if (known) known.push(one);
      else found.set(key, [one]);
    }
  }
  return found;
}

function namesakesOf(card: ContactCard, { namesakes }: Known): ContactRow[] {
  if (namesakes.size === 0) return [];
  const found = namesakeKeys(card, reachKeys(card)).flatMap((key) => namesakes.get(key) ?? []);
  return [...new Set(found.filter((other) => canJoin(card, other)).map(({ row }) => row))];
}

export interface Match {
  /** The contact of the card: that with its uid or external_id, or one whose card it was in the last import. */
  same?: ContactRow | undefined;
  /** Whether this is the contact of no other card. */
  isOwn?: boolean;
  /** Without such a contact: others that may be the same person. */
  namesakes: readonly ContactRow[];
  /** Of the contact of the card, which was merged into `same`. */
  formerId?: string;
}

/** The uids of their own of cards that state the uid of a contact with which they have nothing in common. */
export async function strangersOf(
  cards: readonly ImportedCard[],
  rows: readonly ContactRow[],
): Promise<string[]> {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const turns = new Turns();
  const found: string[] = [];
  for (const { card, shared } of cards) {
    await turns.pause();
    const row = shared && byUid.get(shared.stated);
    if (row && !isSamePerson(card, cardOf(row))) found.push(shared.own);
  }
  return found;
}

/** The order of the cards of a file does not decide who keeps a uid that several people have. */
const uidsOf = ({ uid, shared }: ImportedCard): string[] => (shared ? [shared.own, shared.stated] : [uid]);

/** The contact of the card among those that the batch has created: by `uidKey` and `externalKey`. */
export function madeFor<Made extends { card: ContactCard }>(
  imported: ImportedCard,
  made: ReadonlyMap<string, Made>,
): Made | undefined {
  for (const uid of uidsOf(imported)) {
    const found = made.get(uidKey(uid));
    if (found && (uid === imported.shared?.own || isOfPerson(imported, () => found.card))) return found;
  }
  return imported.externalId === undefined ? undefined : made.get(externalKey(imported.externalId));
}

export const uidKey = (uid: string): string => `uid ${uid}`;
export const externalKey = (externalId: string): string => `external ${externalId}`;

export function matchOf(imported: ImportedCard, known: Known, run: ImportRun): Match {
  const { uid, shared, externalId, card, hash } = imported;
  for (const each of uidsOf(imported)) {
    const same = known.byUid.get(each);
    if (same && (each === shared?.own || isOfPerson(imported, () => cardOf(same))))
      return { same, isOwn: true, namesakes: [] };
    const former = same ? undefined : known.byFormerUid.get(each);
    if (former && (each === uid || each === shared?.own))
      return { same: former.row, isOwn: true, namesakes: [], formerId: former.formerId };
  }
  const named = externalId === undefined ? undefined : known.byExternalId.get(externalId);
  if (named) return { same: named, isOwn: true, namesakes: [] };
  const namesakes = namesakesOf(card, known);
  const sent = ({ id }: ContactRow): readonly string[] => known.sent.get(id)?.hashes ?? [];
  const same = namesakes.find((row) => sent(row).includes(hash));
  return same ? { same, isOwn: isSameCard(imported, same, run, sent(same)), namesakes: [] } : { namesakes };
}

/**
 * Whether the contact with the uid that a card states is its contact. The only person with this uid may be renamed. A further card of the
 * first person has another contact only if that has the own uid of the person.
 */
const isOfPerson = ({ card, shared }: ImportedCard, contact: () => ContactCard): boolean =>
  !shared?.hasSeveral() || shared.isFurther || isSamePerson(card, contact());

/**
 * Whether a card and the only card that the device sent for a similar contact are one card of the device, which may have changed there: telephones
 * write cards without UID. A card with a UID of its own is another card of the same person.
 */
export const isSameCard = (
  card: ImportedCard,
  row: ContactRow,
  { deviceId }: ImportRun,
  sent: readonly string[],
): boolean =>
  deviceId !== '' &&
  card.externalId === undefined &&
  isDerivedUid(card.uid) &&
  isDerivedUid(row.uid) &&
  sent.length === 1;
