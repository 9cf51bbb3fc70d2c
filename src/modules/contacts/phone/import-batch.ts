import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Turns } from '../../../lib/turns/index.js';
import {
  contactInsert,
  type ContactInsert,
  contactUpdate,
  type ContactUpdate,
} from '../model/contact-values.js';
import { canJoin, differences, identityKeys, type ContactCard } from '../../../lib/contact-card/index.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { ContactErrors } from '../contacts.resource.js';
import { ContactsRepository } from '../contacts.repository.js';
import { FormerContacts } from '../former-contacts.repository.js';
import type { ImportCounts } from './import.entity.js';
import type { ImportProblemResponse, OnImportedDuplicate } from './phone.dto.js';
import { type ImportedCard, inSpellingOf, isDerivedUid, isSamePerson, problemOf } from './import-cards.js';
import { isAsSent, joined, joinedPhoto, ruleOf } from './import-rules.js';
import { Touched, type TouchedContact } from './import-touched.js';
import { type ImportItem, ImportsRepository } from './imports.repository.js';

/** Contacts that may have an address or number of a batch. */
const MAX_SIMILAR = 2_000;

export interface ImportRun {
  id: string;
  bookId: string;
  deviceId: string;
  onDuplicate: OnImportedDuplicate;
  /** By id: the contacts that the written batches have created or found. */
  touched: Map<string, TouchedContact>;
  /** Counts of the written batches. */
  counts: ImportCounts;
  problems: ImportProblemResponse[];
}

/** The result of one batch: the outcome of each written card, and why the others were not written. */
interface BatchResult {
  outcomes: Outcome[];
  failed: ImportProblemResponse[];
  /** By id: the contacts that the batch created or found. */
  touched: ReadonlyMap<string, TouchedContact>;
}

type Outcome = Exclude<keyof ImportCounts, 'total' | 'failed'>;

/** A contact as the cards of a batch leave it. */
interface State {
  row: ContactRow;
  card: ContactCard;
  photoId: string | null;
  /** The places of the outcomes of the cards that changed it. */
  changes: number[];
  /** The hash of the last one of them; null: there is none. */
  hash: string | null;
}

interface Known {
  byUid: Map<string, ContactRow>;
  byExternalId: Map<string, ContactRow>;
  byKey: Map<string, ContactRow[]>;
  /** By the uid of a contact that was merged into it. */
  byFormerUid: Map<string, Former>;
  /** The hashes of the cards of a contact in the last import of the device before this one. */
  hashes: Map<string, readonly string[]>;
}

/** The contact into which another one was merged, and the id of the other one. */
interface Former {
  row: ContactRow;
  formerId: string;
}

/** Writes one batch of an import. No uid and no external_id occurs twice in a batch. */
@Injectable()
export class ImportBatch {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly imports: ImportsRepository,
    private readonly former: FormerContacts,
  ) {}

  /**
   * Several cards may have one contact: each is merged into the contact as the cards before it leave it.
   * @param capacity number of contacts that fit into the address book
   */
  async write(
    tx: Tx,
    ctx: RequestContext,
    run: ImportRun,
    cards: readonly ImportedCard[],
    photoIds: ReadonlyMap<string, string>,
    capacity: number,
  ): Promise<BatchResult> {
    const known = await this.known(tx, ctx, run, cards);
    const matches = new Map(cards.map((card) => [card, matchOf(card, known, run)]));
    const touched = new Touched(run.touched);
    const own = new Set([...matches.values()].flatMap(({ same, isOwn }) => (isOwn && same ? same.id : [])));
    const outcomes: Outcome[] = [];
    const failed: ImportProblemResponse[] = [];
    const inserts: ContactInsert[] = [];
    const states = new Map<string, State>();
    /** The contacts of cards by the id under which the card is recorded. */
    const found = new Map<string, ContactRow>();
    const turns = new Turns();
    for (const given of cards) {
      await turns.pause();
      const { index, externalId } = given;
      const { same, isOwn, namesakes, formerId } = matches.get(given) as Match;
      const similar = namesakes.filter(({ id }) => !own.has(id) && !touched.of(id).isTaken);
      const row = same ?? similar[0];
      const photoId = (given.photo && photoIds.get(given.photo.hash)) ?? null;
      if (!row) {
        const { card, hash } = given;
        if (inserts.length >= capacity) {
          const { code: error, message } = ContactErrors.bookFull;
          failed.push({ index, name: card.full_name, error, message });
          continue;
        }
        const uid = uidOfNew(given, known);
        const contact = contactInsert(card, { externalId, uid, source: 'phone_sync', photoId });
        inserts.push(contact);
        touched.set(contact.id, { isNew: true, isTaken: true });
        touched.addHash(contact.id, hash);
        outcomes.push('created');
        continue;
      }
      const { isNew } = touched.of(row.id);
      // Cards of members follow their profiles.
      if (row.linked_user_id !== null || (run.onDuplicate === 'skip' && !isNew)) {
        outcomes.push('skipped');
        continue;
      }
      const state = states.get(row.id) ?? stateOf(row);
      const imported = inSpellingOf(given, state.card);
      const { card, hash } = imported;
      const sentId = formerId ?? row.id;
      const sent = known.hashes.get(sentId) ?? [];
      const isChangedThere = !same && similar.length === 1 && isSameCard(imported, row, run, sent);
      const isSame = same !== undefined || isChangedThere;
      const isSent = sent.includes(hash) || sent.includes(given.hash);
      // A changed card of a contact that was merged into this one adds its fields, as that of a namesake.
      const hasEarlier = sent.length > 0 && isSame && (formerId === undefined || isSent);
      const rule = ruleOf({
        isRepeated: touched.of(sentId).hashes.includes(hash),
        isKnown: isSent && hasEarlier,
        hasEarlier,
        isFurther: touched.has(row.id),
        isNew: isNew && isSame,
        isAsSent: isAsSent(row, imported, sent),
        replaces: run.onDuplicate === 'replace' && formerId === undefined,
      });
      const after = attempt(() => joined(rule, state.card, card), imported);
      if ('error' in after) {
        failed.push(after);
        continue;
      }
      const photoAfter = joinedPhoto(rule, state.photoId, photoId);
      const isChanged = differences(state.card, after).length > 0 || photoAfter !== state.photoId;
      touched.set(row.id, isOwn || isChangedThere ? { isTaken: true } : {});
      touched.addHash(sentId, hash);
      touched.addHash(sentId, given.hash);
      found.set(row.id, row).set(sentId, row);
      if (isChanged) {
        const changes = [...state.changes, outcomes.length];
        states.set(row.id, { row, card: after, photoId: photoAfter, changes, hash });
      }
      outcomes.push(!isChanged ? 'unchanged' : same ? 'updated' : 'merged');
    }
    const updates = updatesOf(states, outcomes);
    const revisions = await this.store(tx, ctx, run, inserts, [...updates.values()]);
    const items = itemsOf(found, updates, states, known, touched);
    for (const { id } of inserts) {
      const [revision, { hashes }] = [revisions.get(id) as number, touched.of(id)];
      items.push({ contact_id: id, action: 'created', revision, hashes, ...NO_ORIGINAL });
    }
    await this.imports.addItems(tx, ctx, run.id, items);
    for (const { contact_id: id } of items) touched.set(id, { hasItem: true });
    return { outcomes, failed, touched: touched.added };
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
      hashes: await this.imports.hashes(tx, ctx, deviceId, ids, run.id),
    };
  }
}

const stateOf = (row: ContactRow): State => ({
  row,
  card: cardOf(row),
  photoId: row.photo_id,
  changes: [],
  hash: null,
});

/** The contacts that the batch changes, by id. The outcomes of cards that changed nothing together become `unchanged`. */
function updatesOf(states: ReadonlyMap<string, State>, outcomes: Outcome[]): Map<string, ContactUpdate> {
  const updates = new Map<string, ContactUpdate>();
  for (const [id, { row, card, photoId, changes }] of states) {
    const changed = differences(cardOf(row), card);
    if (changed.length > 0 || photoId !== row.photo_id)
      updates.set(id, contactUpdate(row, card, changed, photoId));
    else for (const at of changes) outcomes[at] = 'unchanged';
  }
  return updates;
}

/** The items of contacts that were found. One whose cards are those of the last import keeps the item of that import. */
function itemsOf(
  found: ReadonlyMap<string, ContactRow>,
  updates: ReadonlyMap<string, ContactUpdate>,
  states: ReadonlyMap<string, State>,
  known: Known,
  touched: Touched,
): ImportItem[] {
  return [...found].flatMap(([id, row]): ImportItem[] => {
    const sent = known.hashes.get(id) ?? [];
    const { hashes, hasItem } = touched.of(id);
    const { revision } = row;
    if (!updates.has(id)) {
      const isKnown = !hasItem && hashes.every((hash) => sent.includes(hash));
      if (isKnown || hashes.length === 0) return [];
      return [{ contact_id: id, action: 'unchanged', revision, hashes, ...NO_ORIGINAL }];
    }
    // A contact that another one was merged into may be changed by a card of that one alone.
    const own = [hashes, sent, [states.get(id)!.hash!]].find((list) => list.length > 0)!;
    return [
      {
        contact_id: id,
        action: 'updated',
        revision: revision + 1,
        hashes: own,
        original: row.card,
        original_photo_id: row.photo_id,
        original_revision: revision,
      },
    ];
  });
}

/** The contact has no card from before the import. */
const NO_ORIGINAL = { original: null, original_photo_id: null, original_revision: null };

/** The card, or the problem with it. */
function attempt(make: () => ContactCard, { index, card }: ImportedCard): ContactCard | ImportProblemResponse {
  try {
    return make();
  } catch (error) {
    return problemOf(index, card.full_name, error);
  }
}

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
function strangersOf(cards: readonly ImportedCard[], rows: readonly ContactRow[]): string[] {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  return cards.flatMap(({ card, shared }) => {
    const row = shared && byUid.get(shared.stated);
    return row && !isSamePerson(card, cardOf(row)) ? [shared.own] : [];
  });
}

function matchOf(imported: ImportedCard, known: Known, run: ImportRun): Match {
  const { uid, shared, externalId, card, hash } = imported;
  // The order of the cards of a file does not decide who keeps a uid that several people have.
  const uids = shared ? [shared.own, shared.stated] : [uid];
  for (const each of uids) {
    const same = known.byUid.get(each);
    if (same && (each === shared?.own || isOfPerson(imported, same))) return { same, isOwn: true, namesakes: [] };
    const former = same ? undefined : known.byFormerUid.get(each);
    if (former && (each === uid || each === shared?.own))
      return { same: former.row, isOwn: true, namesakes: [], formerId: former.formerId };
  }
  const named = externalId === undefined ? undefined : known.byExternalId.get(externalId);
  if (named) return { same: named, isOwn: true, namesakes: [] };
  const namesakes = namesakesOf(card, known);
  const sent = ({ id }: ContactRow): readonly string[] => known.hashes.get(id) ?? [];
  const same = namesakes.find((row) => sent(row).includes(hash));
  return same
    ? { same, isOwn: isSameCard(imported, same, run, sent(same)), namesakes: [] }
    : { namesakes };
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
 * Whether a card and the only card that the device sent for a similar contact are one card of the device, which may have changed there: telephones
 * write cards without UID. A card with a UID of its own is another card of the same person.
 */
const isSameCard = (
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
