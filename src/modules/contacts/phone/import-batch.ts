import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Turns } from '../../../lib/turns/index.js';
import type { ContactInsert, ContactUpdate } from '../model/contact-values.js';
import { ContactsRepository } from '../contacts.repository.js';
import { FormerContacts } from '../former-contacts.repository.js';
import type { ImportProblemResponse } from './phone.dto.js';
import type { ImportedCard } from './import-cards.js';
import {
  groupNamesakes,
  type Known,
  type Match,
  matchOf,
  nameKeyOf,
  reachKeys,
  strangersOf,
} from './import-matches.js';
import { ImportMerge, type Outcome } from './import-merge.js';
import { type ImportRun, Touched, type TouchedContact } from './import-touched.js';
import { ImportsRepository } from './imports.repository.js';

/** Contacts that may have an address or number of a batch. */
const MAX_SIMILAR = 2_000;

/** The result of one batch: the outcome of each written card, and why the others were not written. */
interface BatchResult {
  outcomes: Outcome[];
  failed: ImportProblemResponse[];
  /** By id: the contacts that the batch created or found. */
  touched: ReadonlyMap<string, TouchedContact>;
}

/** Writes one batch of an import. */
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
    const turns = new Turns();
    const matches: { card: ImportedCard; match: Match }[] = [];
    for (const card of cards) {
      await turns.pause();
      matches.push({ card, match: matchOf(card, known, run) });
    }
    const own = matches.flatMap(({ match: { same, isOwn } }) => (isOwn && same ? same.id : []));
    const all = new Set(own);
    const several = new Set(own.filter((id) => !all.delete(id)));
    const touched = new Touched(run.touched);
    const merge = new ImportMerge(run, known, touched, new Set(own), several, capacity);
    for (const { card, match } of matches) {
      await turns.pause();
      merge.add(card, match, (card.photo && photoIds.get(card.photo.hash)) ?? null);
    }
    const updates = merge.updates();
    const revisions = await this.store(tx, ctx, run, merge.inserts(), [...updates.values()]);
    const items = merge.items(revisions, updates);
    await this.imports.addItems(tx, ctx, run.id, items);
    for (const { contact_id: id } of items) touched.set(id, { hasItem: true });
    return { outcomes: merge.outcomes, failed: merge.failed, touched: touched.added };
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
    const strangers = (await strangersOf(cards, byUid)).filter((uid) => !stated.has(uid));
    if (strangers.length > 0) byUid.push(...(await this.contacts.find(tx, ctx, bookId, 'uid', strangers)));
    const uids = [...stated, ...strangers];
    const byExternalId = await this.contacts.find(tx, ctx, bookId, 'external_id', externalIds);
    const keys = [...new Set(cards.flatMap(({ card }) => reachKeys(card)))];
    const names = [...new Set(cards.flatMap(({ card }) => nameKeyOf(card) ?? []))];
    const similar =
      onDuplicate === 'create'
        ? []
        : await this.contacts.withKeys(tx, ctx, bookId, keys, MAX_SIMILAR, { names });
    const found = new Set(byUid.map(({ uid }) => uid));
    const remaining = await this.former.findRemaining(
      tx,
      ctx,
      bookId,
      uids.filter((uid) => !found.has(uid)),
    );
    const rows = [...byUid, ...byExternalId, ...similar, ...remaining];
    const ids = [...rows.map(({ id }) => id), ...remaining.map(({ former_id }) => former_id)];
    return {
      byUid: new Map(byUid.map((row) => [row.uid, row])),
      byExternalId: new Map(byExternalId.map((row) => [row.external_id, row])),
      namesakes: await groupNamesakes(similar),
      byFormerUid: new Map(remaining.map((row) => [row.former_uid, { row, formerId: row.former_id }])),
      sent: await this.imports.sentCards(tx, ctx, deviceId, ids, run.id),
    };
  }
}
