import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import type { Tx } from '../../../platform/database/tx.js';
import {
  checkCard,
  contactInsert,
  contentHash,
  type ContactInsert,
  contactUpdate,
  type ContactUpdate,
} from '../model/contact-values.js';
import {
  canJoin,
  joinCards,
  differences,
  identityKeys,
  type ContactCard,
} from '../../../lib/contact-card/index.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { ContactsRepository } from '../contacts.repository.js';
import { FormerContacts } from '../former-contacts.repository.js';
import type { ImportCounts } from './import.entity.js';
import type { ImportProblemResponse, OnImportedDuplicate } from './phone.dto.js';
import { cardHash, type ImportedCard, isDerivedUid, isSamePerson } from './import-cards.js';
import { type ImportItem, ImportsRepository } from './imports.repository.js';

/** Contacts that may have an address or number of a batch. */
const MAX_SIMILAR = 2_000;

export interface ImportRun {
  id: string;
  bookId: string;
  deviceId: string;
  onDuplicate: OnImportedDuplicate;
  /** Ids of the contacts that this import has created or found: they are those of other cards. */
  taken: Set<string>;
  /** Counts of the written batches. */
  counts: ImportCounts;
  problems: ImportProblemResponse[];
}

/** The result of one batch: the outcome of each written card, and the cards that do not fit into the address book. */
interface BatchResult {
  outcomes: Exclude<keyof ImportCounts, 'total' | 'failed'>[];
  exceeding: ImportedCard[];
  /** Ids of the contacts that were created or found. */
  taken: Set<string>;
}

interface Known {
  byUid: Map<string, ContactRow>;
  byExternalId: Map<string, ContactRow>;
  byKey: Map<string, ContactRow[]>;
  /** By the uid of a contact that was merged into it. */
  byFormerUid: Map<string, Former>;
  /** The hash of the last card of a contact that the device sent. */
  hashes: Map<string, string>;
}

/** The contact into which another one was merged, and the id of the other one. */
interface Former {
  row: ContactRow;
  formerId: string;
}

/** The contact has no card from before the import. */
const NO_ORIGINAL = { original: null, original_photo_id: null, original_revision: null };

/** Writes one batch of an import. No uid and no external_id occurs twice in a batch. */
@Injectable()
export class ImportBatch {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly imports: ImportsRepository,
    private readonly former: FormerContacts,
  ) {}

  /** @param capacity number of contacts that fit into the address book */
  async write(
    tx: Tx,
    ctx: RequestContext,
    run: ImportRun,
    cards: readonly ImportedCard[],
    photoIds: ReadonlyMap<string, string>,
    capacity: number,
  ): Promise<BatchResult> {
    const known = await this.known(tx, ctx, run, cards);
    const matches = new Map(cards.map((card) => [card, matchOf(card, known)]));
    const taken = new Set([...run.taken, ...[...matches.values()].flatMap(({ same }) => same?.id ?? [])]);
    const result: BatchResult = { outcomes: [], exceeding: [], taken };
    const items: ImportItem[] = [];
    const inserts: { contact: ContactInsert; source_hash: string }[] = [];
    const updates = new Map<string, ContactUpdate>();
    for (const imported of cards) {
      const { card, hash: source_hash, externalId } = imported;
      const { same, namesakes, formerId } = matches.get(imported) as Match;
      const similar = namesakes.filter(({ id }) => !taken.has(id));
      const row = same ?? similar[0];
      const photoId = (imported.photo && photoIds.get(imported.photo.hash)) ?? null;
      if (!row) {
        if (inserts.length >= capacity) {
          result.exceeding.push(imported);
          continue;
        }
        const uid = uidOfNew(imported, known);
        const contact = contactInsert(card, { externalId, uid, source: 'phone_sync', photoId });
        inserts.push({ contact, source_hash });
        result.outcomes.push('created');
        continue;
      }
      // Cards of members follow their profiles. A second card for the same contact waits for the next import.
      if (run.onDuplicate === 'skip' || row.linked_user_id !== null || updates.has(row.id)) {
        result.outcomes.push('skipped');
        continue;
      }
      const before = cardOf(row);
      const sentId = formerId ?? row.id;
      const sentHash = known.hashes.get(sentId);
      const isSame = same !== undefined || (similar.length === 1 && isSameCard(imported, row, run));
      // A changed card of a contact that was merged into this one adds its fields, as that of a namesake.
      const isOwn = formerId === undefined || sentHash === source_hash;
      const lastHash = isSame && isOwn ? sentHash : undefined;
      const onDuplicate = formerId === undefined ? run.onDuplicate : 'merge';
      if (isSame) taken.add(row.id);
      const after = isAsSent(row, imported, lastHash)
        ? card
        : merged(before, imported, lastHash, onDuplicate);
      const photoAfter = mergedPhoto(row.photo_id, photoId, lastHash, source_hash, onDuplicate);
      const changed = differences(before, after);
      if (changed.length === 0 && photoAfter === row.photo_id) {
        result.outcomes.push('unchanged');
        if (sentHash !== source_hash) items.push(unchangedItem(sentId, row, source_hash));
        continue;
      }
      updates.set(row.id, contactUpdate(row, after, changed, photoAfter));
      result.outcomes.push(same ? 'updated' : 'merged');
      const revision = row.revision + 1;
      items.push({
        contact_id: row.id,
        action: 'updated',
        revision,
        source_hash: formerId === undefined ? source_hash : (known.hashes.get(row.id) ?? source_hash),
        original: row.card,
        original_photo_id: row.photo_id,
        original_revision: row.revision,
      });
      if (formerId !== undefined) items.push(unchangedItem(formerId, row, source_hash));
    }
    const contacts = inserts.map(({ contact }) => contact);
    const revisions = await this.store(tx, ctx, run, contacts, [...updates.values()]);
    for (const { contact, source_hash } of inserts)
      items.push({
        contact_id: contact.id,
        action: 'created',
        revision: revisions.get(contact.id) as number,
        source_hash,
        ...NO_ORIGINAL,
      });
    await this.imports.addItems(tx, ctx, run.id, items);
    for (const { id } of contacts) taken.add(id);
    return result;
  }

  /** @returns the revisions of the new contacts by id */
  private async store(
    tx: Tx,
    ctx: RequestContext,
    { bookId }: ImportRun,
    inserts: readonly ContactInsert[],
    updates: readonly ContactUpdate[],
  ): Promise<Map<string, number>> {
    const made = await this.contacts.insertMany(tx, ctx, bookId, inserts);
    const written = await this.contacts.update(tx, ctx, bookId, updates);
    // The transaction is repeated with the contacts as they are now.
    if (made.length < inserts.length || written.length < updates.length)
      throw new ConcurrentChangeError('a contact of the import has changed');
    return new Map(made.map(({ id, revision }) => [id, revision]));
  }

  private async known(
    tx: Tx,
    ctx: RequestContext,
    run: ImportRun,
    cards: readonly ImportedCard[],
  ): Promise<Known> {
    const { bookId, deviceId, onDuplicate } = run;
    const stated = new Set(cards.flatMap(({ uid, shared }) => [uid, shared?.stated ?? uid]));
    const externalIds = cards.flatMap(({ externalId }) => externalId ?? []);
    const byUid = await this.contacts.find(tx, ctx, bookId, 'uid', [...stated]);
    const strangers = strangersOf(cards, byUid).filter((uid) => !stated.has(uid));
    if (strangers.length > 0) byUid.push(...(await this.contacts.find(tx, ctx, bookId, 'uid', strangers)));
    const uids = [...stated, ...strangers];
    const byExternalId = await this.contacts.find(tx, ctx, bookId, 'external_id', externalIds);
    const keys = [...new Set(cards.flatMap(({ card }) => reachKeys(card)))];
    const similar =
      onDuplicate === 'create' ? [] : await this.contacts.withKeys(tx, ctx, bookId, keys, MAX_SIMILAR);
    const found = new Set(byUid.map(({ uid }) => uid));
    const remaining = await this.former.findRemaining(
      tx,
      ctx,
      bookId,
      uids.filter((uid) => !found.has(uid)),
    );
    const rows = [...byUid, ...byExternalId, ...similar, ...remaining];
    const ids = [...rows.map(({ id }) => id), ...remaining.map(({ former_id }) => former_id)];
    const byKey = new Map<string, ContactRow[]>();
    for (const row of similar) for (const key of row.shared) byKey.set(key, [...(byKey.get(key) ?? []), row]);
    return {
      byUid: new Map(byUid.map((row) => [row.uid, row])),
      byExternalId: new Map(byExternalId.map((row) => [row.external_id, row])),
      byKey,
      byFormerUid: new Map(remaining.map((row) => [row.former_uid, { row, formerId: row.former_id }])),
      hashes: await this.imports.hashes(tx, ctx, deviceId, ids),
    };
  }
}

const unchangedItem = (contactId: string, { revision }: ContactRow, source_hash: string): ImportItem => ({
  contact_id: contactId,
  action: 'unchanged',
  revision,
  source_hash,
  ...NO_ORIGINAL,
});

const isName = (key: string): boolean => key.startsWith('=');
const reachKeys = (card: ContactCard): string[] => identityKeys(card).filter((key) => !isName(key));
const nameKeyOf = (card: ContactCard): string | undefined => identityKeys(card).find(isName);

/** Contacts with the same name and a common address or number. Families share numbers: the name must be the same. */
function namesakesOf(card: ContactCard, { byKey }: Known): ContactRow[] {
  const rows = byKey.size === 0 ? [] : reachKeys(card).flatMap((key) => byKey.get(key) ?? []);
  if (rows.length === 0) return [];
  const name = nameKeyOf(card);
  return [...new Set(rows)].filter((row) => {
    const other = cardOf(row);
    return canJoin(card, other) && nameKeyOf(other) === name;
  });
}

interface Match {
  /** The contact of the card: that with its uid or external_id, or the one whose last card it was. */
  same?: ContactRow | undefined;
  /** Without such a contact: others that may be the same person. */
  namesakes: readonly ContactRow[];
  /** Of the contact of the card, which was merged into `same`. */
  formerId?: string;
}

/** The uids of their own of cards that state the uid of a contact with which they have nothing in common. */
function strangersOf(cards: readonly ImportedCard[], rows: readonly ContactRow[]): string[] {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  return cards.flatMap(({ card, shared }) => {
    const row = shared && byUid.get(shared.stated);
    return row && !isSamePerson(card, cardOf(row)) ? [shared.own] : [];
  });
}

function matchOf(imported: ImportedCard, known: Known): Match {
  const { uid, shared, externalId, card, hash } = imported;
  // The order of the cards of a file does not decide who keeps a uid that several people have.
  const uids = shared ? [shared.own, shared.stated] : [uid];
  for (const each of uids) {
    const same = known.byUid.get(each);
    if (same && (each === shared?.own || isOfPerson(imported, same))) return { same, namesakes: [] };
    const former = same ? undefined : known.byFormerUid.get(each);
    if (former && (each === uid || each === shared?.own))
      return { same: former.row, namesakes: [], formerId: former.formerId };
  }
  const named = externalId === undefined ? undefined : known.byExternalId.get(externalId);
  if (named) return { same: named, namesakes: [] };
  const namesakes = namesakesOf(card, known);
  const same = namesakes.find(({ id }) => known.hashes.get(id) === hash);
  return { same, namesakes: same ? [] : namesakes };
}

/**
 * Whether the contact with the uid that a card states is its contact. The only person with this uid may be renamed. A further card of the
 * first person has another contact only if that has the own uid of the person.
 */
const isOfPerson = ({ card, shared }: ImportedCard, row: ContactRow): boolean =>
  !shared?.hasSeveral() || shared.isFurther || isSamePerson(card, cardOf(row));

/** The uid of a new contact: another person may have the one that its card states. */
const uidOfNew = ({ uid, shared }: ImportedCard, { byUid }: Known): string =>
  shared && byUid.has(shared.stated) ? shared.own : uid;

/**
 * Whether a card and the last card of a similar contact are one card of the device, which changed there: telephones write cards without UID. A card
 * with a UID of its own is another card of the same person.
 */
const isSameCard = (card: ImportedCard, row: ContactRow, { deviceId }: ImportRun): boolean =>
  deviceId !== '' && card.externalId === undefined && isDerivedUid(card.uid) && isDerivedUid(row.uid);

/** True for a contact that is the last card of the device: nothing was changed here, so the device's changes are the only ones. */
function isAsSent({ card }: ContactRow, { photo }: ImportedCard, lastHash: string | undefined): boolean {
  if (lastHash === undefined) return false;
  const content = contentHash(card);
  return lastHash === content || (photo !== null && lastHash === cardHash(content, photo.hash));
}

/**
 * The contact with an imported card.
 * @param lastHash hash of the last card of the contact that the device sent; undefined: none
 */
function merged(
  before: ContactCard,
  { card, hash }: ImportedCard,
  lastHash: string | undefined,
  onDuplicate: OnImportedDuplicate,
): ContactCard {
  if (onDuplicate === 'replace') return card;
  if (lastHash === hash) return before;
  // Without an earlier import nothing shows which side is newer: the contact wins.
  return checkCard(lastHash === undefined ? joinCards(before, card) : joinCards(card, before));
}

/** The photo of the contact with an imported card, by the rules of `merged`. */
function mergedPhoto(
  before: string | null,
  imported: string | null,
  lastHash: string | undefined,
  hash: string,
  onDuplicate: OnImportedDuplicate,
): string | null {
  if (onDuplicate === 'replace') return imported;
  if (lastHash === hash) return before;
  return lastHash === undefined ? (before ?? imported) : (imported ?? before);
}
