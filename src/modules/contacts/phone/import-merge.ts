import { v7 as uuidv7 } from 'uuid';
import { type ContactCard, differences, valueKeys } from '../../../lib/contact-card/index.js';
import { ContactErrors } from '../contacts.resource.js';
import {
  type ContactInsert,
  contactInsert,
  type ContactUpdate,
  contactUpdate,
} from '../model/contact-values.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import type { ErrorKind } from '../../../platform/http/errors.js';
import type { ImportCounts } from './import.entity.js';
import { type ImportedCard, inSpellingOf, problemOf } from './import-cards.js';
import { externalKey, isSameCard, type Known, madeFor, type Match, uidKey } from './import-matches.js';
import { isAsSent, joinedCard, joinedPhoto, ruleOf } from './import-rules.js';
import { type ImportRun, MAX_HASHES, type Touched } from './import-touched.js';
import type { ImportItem } from './imports.repository.js';
import type { ImportProblemResponse } from './phone.dto.js';
import { SentValues, ValuesOfCards } from './sent-values.js';

export type Outcome = Exclude<keyof ImportCounts, 'total' | 'failed'>;

/** A contact as the cards of a batch leave it. */
interface State {
  id: string;
  /** Null for a new contact. */
  row: ContactRow | null;
  card: ContactCard;
  photoId: string | null;
  /** The places of the outcomes of the cards that changed it. */
  changes: number[];
  /** The hash of the last one of them. */
  hash: string | null;
}

interface RowState extends State {
  row: ContactRow;
}

interface MadeState extends State {
  row: null;
  uid: string;
  externalId: string | undefined;
}

/** What a card has to do with the contact into which it is merged. */
interface Relation {
  /** The contact was found by uid, external_id or an earlier card. */
  isMatch: boolean;
  /** The contact is that of the card, which may have changed on the device. */
  isSame?: boolean;
  /** No other card has the contact. */
  isOwn: boolean;
  /** The contact of the card, which was merged into this one. */
  formerId?: string | undefined;
}

/** Merges the cards of a batch into their contacts, one after another. Nothing is written. */
export class ImportMerge {
  /** Of each merged card, in their order. */
  readonly outcomes: Outcome[] = [];
  /** Of the other cards. */
  readonly failed: ImportProblemResponse[] = [];
  private readonly states = new Map<string, RowState>();
  /** By uid and external_id: the contacts that the batch creates. */
  private readonly made = new Map<string, MadeState>();
  private count = 0;
  /** The contacts of cards by the id under which the card is recorded. */
  private readonly found = new Map<string, ContactRow>();
  private readonly values = new ValuesOfCards();

  /**
   * @param own ids of contacts that cards of the batch have by their uid or external_id
   * @param several those of them that several cards have
   * @param capacity number of contacts that fit into the address book
   */
  constructor(
    private readonly run: ImportRun,
    private readonly known: Known,
    private readonly touched: Touched,
    private readonly own: ReadonlySet<string>,
    private readonly several: ReadonlySet<string>,
    private readonly capacity: number,
  ) {}

  /** @param photoId the stored photo of the card */
  add(
    given: ImportedCard,
    { same, isOwn = false, namesakes, formerId }: Match,
    photoId: string | null,
  ): void {
    const made = same ? undefined : madeFor(given, this.made);
    if (made) return this.merge(given, photoId, made, { isMatch: true, isOwn: true });
    const similar = namesakes.filter(({ id }) => !this.own.has(id) && !this.touched.of(id).isTaken);
    const row = same ?? similar[0];
    if (!row) return this.create(given, photoId);
    // Cards of members follow their profiles.
    if (row.linked_user_id !== null || (this.run.onDuplicate === 'skip' && !this.touched.of(row.id).isNew)) {
      this.outcomes.push('skipped');
      return;
    }
    const state = this.states.get(row.id) ?? stateOf(row);
    const isChangedThere =
      !same && similar.length === 1 && isSameCard(given, row, this.run, this.sentFor(row.id));
    const isMatch = same !== undefined;
    const isSame = isMatch || isChangedThere;
    this.merge(given, photoId, state, { isMatch, isSame, isOwn: isOwn || isChangedThere, formerId });
  }

  inserts(): ContactInsert[] {
    return [...new Set(this.made.values())].map(({ id, card, uid, externalId, photoId }) =>
      contactInsert(card, { id, externalId, uid, source: 'phone_sync', photoId }),
    );
  }

  /** By id. The outcomes of cards that changed nothing together become `unchanged`. */
  updates(): Map<string, ContactUpdate> {
    const updates = new Map<string, ContactUpdate>();
    for (const { id, row, card, photoId, changes } of this.states.values()) {
      const changed = differences(cardOf(row), card);
      if (changed.length > 0 || photoId !== row.photo_id)
        updates.set(id, contactUpdate(row, card, changed, photoId));
      else for (const at of changes) this.outcomes[at] = 'unchanged';
    }
    return updates;
  }

  /** @param revisions of the new contacts by id */
  items(revisions: ReadonlyMap<string, number>, updates: ReadonlyMap<string, unknown>): ImportItem[] {
    const created = [...revisions].map(([id, revision]): ImportItem => {
      const { hashes } = this.touched.of(id);
      const values = this.values.of(id);
      return { contact_id: id, action: 'created', revision, hashes, values, ...NO_ORIGINAL };
    });
    const found = [...this.found].flatMap(([id, row]) => this.itemOf(id, row, updates.has(id)) ?? []);
    return [...created, ...found];
  }

  /** The item of a contact that was found. One whose cards are those of the last import keeps the item of that import. */
  private itemOf(id: string, row: ContactRow, isUpdated: boolean): ImportItem | undefined {
    const { revision } = row;
    const earlier = this.known.sent.get(id);
    const sent = earlier?.hashes ?? [];
    const { hashes, hasItem } = this.touched.of(id);
    // The values of cards of an earlier batch are in the item of that batch.
    const values = hasItem || !this.touched.wasTouched(id) ? this.values.of(id) : null;
    if (!isUpdated) {
      const isKnown = !hasItem && hashes.every((hash) => sent.includes(hash));
      // An item of an earlier version has no values: another one with its revision gets them.
      if (hashes.length === 0 || (isKnown && (values === null || earlier?.values))) return undefined;
      const known = isKnown ? (earlier?.revision ?? revision) : revision;
      return { contact_id: id, action: 'unchanged', revision: known, hashes, values, ...NO_ORIGINAL };
    }
    // A contact that another one was merged into may be changed by a card of that one alone.
    const last = this.states.get(id)?.hash ?? '';
    return {
      contact_id: id,
      action: 'updated',
      revision: revision + 1,
      hashes: [hashes, sent].find((list) => list.length > 0) ?? [last],
      values: hashes.length > 0 ? values : (earlier?.values?.toString('hex') ?? null),
      original: row.card,
      original_photo_id: row.photo_id,
      original_revision: revision,
    };
  }

  private create(given: ImportedCard, photoId: string | null): void {
    const { card, hash, externalId, shared } = given;
    if (this.count >= this.capacity) return this.reject(given, ContactErrors.bookFull);
    const hasStated = shared && (this.known.byUid.has(shared.stated) || this.made.has(uidKey(shared.stated)));
    // Another person may have the uid that the card states.
    const uid = hasStated ? shared.own : given.uid;
    const id = uuidv7();
    const state = { id, row: null, card, photoId, uid, externalId, changes: [], hash: null };
    this.made.set(uidKey(uid), state);
    if (externalId !== undefined) this.made.set(externalKey(externalId), state);
    this.count += 1;
    this.touched.set(id, { isNew: true, isTaken: true });
    this.touched.addHash(id, hash);
    this.values.add(id, given);
    this.outcomes.push('created');
  }

  private merge(
    given: ImportedCard,
    photoId: string | null,
    state: State,
    { isMatch, isSame = isMatch, isOwn, formerId }: Relation,
  ): void {
    const { touched, run } = this;
    const { id, row } = state;
    const sentId = formerId ?? id;
    const sent = this.sentFor(sentId);
    const imported = inSpellingOf(given, state.card);
    const { card, hash } = imported;
    if (!touched.hasRoom(sentId, hash)) return this.reject(given, TOO_MANY_CARDS);
    const isSent = sent.includes(hash) || sent.includes(given.hash);
    // A changed card of a contact that was merged into this one adds its fields, as that of a namesake.
    const hasEarlier = sent.length > 0 && isSame && (formerId === undefined || isSent);
    const sentValues = hasEarlier ? this.known.sent.get(sentId)?.values : undefined;
    const values = sentValues ? new SentValues(sentValues) : undefined;
    const isFurther = touched.has(id);
    const isOnly =
      run.deviceId !== '' && sent.length === 1 && !isFurther && !this.several.has(id) && !given.isUnfinished;
    const earlier = { values, isOnly };
    const rule = ruleOf({
      isRepeated: touched.of(sentId).hashes.includes(hash),
      isKnown: isSent && hasEarlier,
      hasEarlier,
      isFurther,
      isNew: isSame && touched.of(id).isNew,
      isAsSent: row !== null && isAsSent(row, imported, sent) && !this.several.has(id),
      hasValues: values !== undefined && !this.mayLack(sentId, sent),
      replaces: run.onDuplicate === 'replace' && formerId === undefined,
      isUnfinished: given.isUnfinished === true,
    });
    let after: ContactCard;
    try {
      after = joinedCard(rule, state.card, imported, earlier);
    } catch (error) {
      this.failed.push(problemOf(given.index, card.full_name, error));
      return;
    }
    const photoAfter = joinedPhoto(rule, state.photoId, photoId, imported, earlier);
    const isChanged = differences(state.card, after).length > 0 || photoAfter !== state.photoId;
    touched.set(id, isOwn ? { isTaken: true } : {});
    touched.addHash(sentId, hash);
    touched.addHash(sentId, given.hash);
    for (const each of new Set([imported, given])) this.values.add(sentId, each);
    if (given.isUnfinished && values) this.values.addEarlier(sentId, values, replacedKeys(state.card, after));
    if (isRow(state)) {
      this.states.set(id, state);
      this.found.set(id, state.row).set(sentId, state.row);
    }
    if (isChanged) {
      state.changes.push(this.outcomes.length);
      Object.assign(state, { card: after, photoId: photoAfter, hash });
    }
    this.outcomes.push(!isChanged ? 'unchanged' : isMatch ? 'updated' : 'merged');
  }

  /**
   * True after a changed card in an earlier batch, which was taken for the only one of the contact: what it no longer said is missing, and
   * may be in a further card.
   */
  private mayLack(id: string, sent: readonly string[]): boolean {
    const [only, ...others] = sent;
    const { hashes, isTaken } = this.touched.of(id);
    return (
      only !== undefined &&
      others.length === 0 &&
      this.touched.wasTouched(id) &&
      isTaken &&
      !hashes.includes(only)
    );
  }

  private reject(
    { index, card }: ImportedCard,
    { code: error, message }: Pick<ErrorKind, 'code' | 'message'>,
  ): void {
    this.failed.push({ index, name: card.full_name, error, message });
  }

  private sentFor(id: string): readonly string[] {
    return this.known.sent.get(id)?.hashes ?? [];
  }
}

const stateOf = (row: ContactRow): RowState => ({
  id: row.id,
  row,
  card: cardOf(row),
  photoId: row.photo_id,
  changes: [],
  hash: null,
});

/** The keys of the values that a contact no longer has. Notes were joined. */
function replacedKeys(before: ContactCard, after: ContactCard): string[] {
  const kept = new Set(valueKeys({ ...after, notes: before.notes }));
  return valueKeys(before).filter((key) => !kept.has(key));
}

const isRow = (state: State): state is RowState => state.row !== null;

const TOO_MANY_CARDS = {
  code: 'too_many_cards',
  message: `The contact was imported without this card: ${MAX_HASHES} others of the import are those of the same contact.`,
};

/** The contact has no card from before the import. */
const NO_ORIGINAL = { original: null, original_photo_id: null, original_revision: null };
