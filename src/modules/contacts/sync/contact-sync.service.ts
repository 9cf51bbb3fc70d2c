import { Injectable } from '@nestjs/common';
import {
  canJoin,
  type CardField,
  type ContactCard,
  differences,
  emptyCard,
  joinCards,
  patchCard,
} from '../../../lib/contact-card/index.js';
import { withoutStale } from '../../../lib/vcard/index.js';
import { PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { ChangesQuery } from '../../../platform/sync/feed.dto.js';
import { FeedService } from '../../../platform/sync/feed.service.js';
import { type AccessedBook, AddressbookAccess } from '../addressbook-access.js';
import { ContactsRepository } from '../contacts.repository.js';
import { ChangeErrors, ContactErrors, CONTACTS } from '../contacts.resource.js';
import { phoneCountry } from '../input/contact.dto.js';
import {
  checkCard,
  type ContactInsert,
  contactInsert,
  type ContactUpdate,
  contactUpdate,
} from '../model/contact-values.js';
import { type BookRole, canEdit, cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { ContactFeedRepository } from './contact-feed.repository.js';
import {
  type AppliedContactChangesEnvelope,
  type ApplyContactChanges,
  type ConflictPolicy,
  ContactChange,
  type ContactChangesEnvelope,
  type SyncContacts,
} from './contact-sync.dto.js';
import { appliedReply, type ChangeOutcome, changeResult } from './contact-sync.presenter.js';

/** The effect of one change of a client. */
export type ChangeEffect =
  | { kind: 'insert'; values: ContactInsert }
  | { kind: 'update'; values: ContactUpdate; conflicts: CardField[] }
  | { kind: 'remove'; id: string }
  | { kind: 'unchanged'; conflicts: CardField[] }
  | { kind: 'absent' }
  | { kind: 'conflict' }
  | { kind: 'deleted' };

interface Rules {
  policy: ConflictPolicy;
  /** Country of telephone numbers without a prefix. */
  country: string | null;
}

/**
 * Decides about a change.
 * @param row the contact on the server; undefined: there is none
 * @throws ApiError 422 for an invalid card
 */
export function effectOf(change: ContactChange, row: ContactRow | undefined, rules: Rules): ChangeEffect {
  return change.op === 'delete' ? deletion(change, row, rules) : upsert(change, row, rules);
}

function deletion(
  { base_revision: base }: ContactChange,
  row: ContactRow | undefined,
  { policy }: Rules,
): ChangeEffect {
  if (!row) return { kind: 'absent' };
  const isCurrent = base === undefined || base === row.revision;
  return isCurrent || policy === 'client' ? { kind: 'remove', id: row.id } : { kind: 'conflict' };
}

function upsert(
  change: ContactChange,
  row: ContactRow | undefined,
  { policy, country }: Rules,
): ChangeEffect {
  const { contact = {}, external_id: externalId, uid, base_revision: base } = change;
  if (!row) {
    // The client changed a contact that was deleted or merged meanwhile. Its fields alone are no whole contact.
    if (base !== undefined) return { kind: 'deleted' };
    return {
      kind: 'insert',
      values: contactInsert(checkCard(patchCard(contact, emptyCard(), country)), { externalId, uid }),
    };
  }
  const before = cardOf(row);
  const after = checkCard(patchCard(contact, before, country));
  const wanted = differences(before, after);
  if (wanted.length === 0) return { kind: 'unchanged', conflicts: [] };
  if (base === row.revision || policy === 'client') return update(row, after, wanted);
  if (policy === 'server') return { kind: 'conflict' };
  // Both sides created the contact: their cards are joined, but not a group and a person.
  if (base === undefined) {
    if (!canJoin(before, after)) return { kind: 'conflict' };
    const both = checkCard(joinCards(before, after));
    return update(row, both, differences(before, both));
  }
  const conflicts = wanted.filter((field) => (row.field_revisions[field] ?? 1) > base);
  const kept = Object.fromEntries(conflicts.map((field) => [field, before[field]]));
  const both = { ...after, ...kept };
  const merged = checkCard({ ...both, custom: withoutStale(before, both) });
  return update(row, merged, differences(before, merged), conflicts);
}

function update(
  row: ContactRow,
  card: ContactCard,
  changed: CardField[],
  conflicts: CardField[] = [],
): ChangeEffect {
  if (changed.length === 0) return { kind: 'unchanged', conflicts };
  return { kind: 'update', values: contactUpdate(row, card, changed), conflicts };
}

/** A valid change of a request. */
interface Planned {
  index: number;
  change: ContactChange;
  row: ContactRow | undefined;
  effect: ChangeEffect;
}

/** Synchronisation of one address book in both directions. */
@Injectable()
export class ContactSyncService {
  constructor(
    private readonly feeds: FeedService,
    private readonly feed: ContactFeedRepository,
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly db: Db,
  ) {}

  /** Changes since the cursor; without a cursor, all contacts. @throws ApiError 404, 410 `cursor_expired` */
  async changes(
    ctx: RequestContext,
    bookId: string,
    query: SyncContacts,
    signal: AbortSignal,
  ): Promise<JsonReply<ContactChangesEnvelope>> {
    const { ctx: owner, source } = this.feed.of(ctx, bookId);
    return this.feeds.changes(owner, source, { ...query, include: 'content' }, signal);
  }

  /**
   * Applies the changes of a client, in one transaction, and returns those of the server since the cursor. An expired cursor
   * is reported before anything is written.
   * @throws ApiError 404, 403, 410 `cursor_expired`
   */
  async apply(
    ctx: RequestContext,
    bookId: string,
    body: Checked<ApplyContactChanges>,
    signal: AbortSignal,
  ): Promise<JsonReply<AppliedContactChangesEnvelope>> {
    const book = await this.access.requireReadable(ctx, bookId);
    const { changes, cursor, limit, conflict, default_country } = body.value;
    if (changes.length > 0 && book.role === 'reader') throw Errors.forbidden.with();
    const query: ChangesQuery = {
      ...(cursor !== undefined && { cursor }),
      limit,
      include: 'content',
      wait: 0,
    };
    const { ctx: owner, source } = this.feed.of(ctx, bookId);
    if (cursor !== undefined) await this.feeds.changes(owner, source, { ...query, limit: 1 }, signal);
    const rules = { policy: conflict, country: phoneCountry(default_country ?? book.default_country) };
    const outcomes =
      changes.length === 0 ? [] : await this.db.tx((tx) => this.write(tx, ctx, book, changes, rules));
    const page = await this.feeds.changes<ContactChangesEnvelope>(owner, source, query, signal);
    const results = outcomes.map((outcome, index) => changeResult(index, outcome, book.role));
    return appliedReply(results, page);
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    book: AccessedBook,
    changes: readonly unknown[],
    rules: Parameters<typeof effectOf>[2],
  ): Promise<ChangeOutcome[]> {
    const count = await this.contacts.lockBook(tx, ctx, book.id);
    if (count === undefined) throw ContactErrors.bookNotFound.with();
    const all = changes.map((raw) => Checked.of(ContactChange, raw));
    const idsOf = (inputs: readonly Checked<ContactChange>[]) =>
      inputs.flatMap((input) => (input.error ? [] : [input.value.external_id]));
    const inputs = all.slice(0, fitting(all, await this.feed.sizes(tx, ctx, book.id, idsOf(all))));
    const ids = idsOf(inputs);
    const rows = new Map(
      (await this.contacts.find(tx, ctx, book.id, 'external_id', ids)).map((row) => [row.external_id, row]),
    );
    const seen = new Set<string>();
    const outcomes: ChangeOutcome[] = [];
    const planned: Planned[] = [];
    for (const [index, input] of inputs.entries()) {
      const plan = this.plan(index, input, rows, seen, book.role, rules);
      if ('error' in plan) outcomes[index] = plan;
      else planned.push(plan);
    }
    await this.applyAll(tx, ctx, { id: book.id, contacts_count: count }, planned, outcomes);
    for (const input of all.slice(inputs.length))
      outcomes.push({
        externalId: input.error ? null : input.value.external_id,
        error: ChangeErrors.responseFull.with(),
      });
    return outcomes;
  }

  /** Decides about one change; errors of the change become its outcome. */
  private plan(
    index: number,
    input: Checked<ContactChange>,
    rows: ReadonlyMap<string, ContactRow>,
    seen: Set<string>,
    role: BookRole,
    rules: Parameters<typeof effectOf>[2],
  ): Planned | (ChangeOutcome & { error: ApiError }) {
    if (input.error) return { externalId: null, error: input.error };
    const change = input.value;
    const externalId = change.external_id;
    const row = rows.get(externalId);
    if (seen.has(externalId)) return { externalId, error: ChangeErrors.repeated.with() };
    seen.add(externalId);
    if (row && !canEdit(role, row)) return { externalId, error: Errors.forbidden.with(), current: row };
    try {
      return { index, change, row, effect: effectOf(change, row, rules) };
    } catch (error) {
      if (error instanceof ApiError) return { externalId, error };
      throw error;
    }
  }

  /**
   * Writes the effects, one statement for each kind of write in the order of the request. Removals come first: new contacts may
   * take their uids and their places.
   */
  private async applyAll(
    tx: Tx,
    ctx: RequestContext,
    book: Pick<AccessedBook, 'id' | 'contacts_count'>,
    planned: readonly Planned[],
    outcomes: ChangeOutcome[],
  ): Promise<void> {
    const effects = planned.map(({ effect }) => effect);
    const of = <K extends ChangeEffect['kind']>(kind: K) =>
      effects.filter((effect): effect is Extract<ChangeEffect, { kind: K }> => effect.kind === kind);
    const removed = of('remove').map(({ id }) => id);
    await this.contacts.remove(tx, ctx, book.id, removed);
    const inserts = of('insert').map(({ values }) => values);
    const capacity = Math.max(0, QUOTAS.item.contacts_of_addressbook - book.contacts_count + removed.length);
    const made = await this.contacts.insert(tx, ctx, book.id, inserts.slice(0, capacity));
    const updates = of('update').map(({ values }) => values);
    const updated = await this.contacts.update(tx, ctx, book.id, updates);
    const after = new Map([...made, ...updated].map((row) => [row.external_id, row]));
    for (const { index, change, row, effect } of planned)
      outcomes[index] = outcomeOf(
        change.external_id,
        row,
        effect,
        after.get(change.external_id),
        inserts.length > capacity,
      );
  }
}

/** The number of changes whose contacts, as they are stored, fit the bytes of a page. @param sizes characters by external id */
function fitting(changes: readonly Checked<ContactChange>[], sizes: ReadonlyMap<string, number>): number {
  let size = 0;
  const end = changes.findIndex((input) => {
    if (!input.error) size += sizes.get(input.value.external_id) ?? 0;
    return size > PAGE_BYTES;
  });
  return end === -1 ? changes.length : Math.max(1, end);
}

/** @param after the written row; undefined where the uid is in use or the address book is full */
function outcomeOf(
  externalId: string,
  row: ContactRow | undefined,
  effect: ChangeEffect,
  after: ContactRow | undefined,
  isFull: boolean,
): ChangeOutcome {
  switch (effect.kind) {
    case 'insert':
      if (after) return { externalId, row: after, status: 201 };
      return { externalId, error: (isFull ? ContactErrors.bookFull : ContactErrors.duplicateUid).with() };
    case 'update':
      return { externalId, row: after, conflicts: effect.conflicts };
    case 'unchanged':
      return { externalId, row, conflicts: effect.conflicts };
    case 'remove':
    case 'absent':
      return { externalId, deleted: true };
    case 'conflict':
      return { externalId, error: CONTACTS.conflict!.with(), current: row };
    default:
      return { externalId, error: ChangeErrors.deleted.with() };
  }
}
