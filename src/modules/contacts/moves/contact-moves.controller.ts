import { Controller, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { canJoin, differences, joinCards } from '../../../lib/contact-card/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { type AccessedBook, AddressbookAccess } from '../addressbook-access.js';
import { ContactsRepository } from '../contacts.repository.js';
import { ContactErrors, CONTACTS, ExternalId, fieldError } from '../contacts.resource.js';
import { checkCard, contactUpdate } from '../model/contact-values.js';
import {
  canEdit,
  cardOf,
  type ContactRow,
  duplicateError,
  presentContact,
} from '../responses/contact.presenter.js';
import {
  MAX_NAMED,
  MoveContact,
  MoveContacts,
  MovedContactsEnvelope,
  type MovePolicy,
} from './contact-moves.dto.js';

/** Contacts of one transaction of a bulk move. */
const BATCH = 200;
const MAX_MOVED = 10_000;

/** Moves of contacts between address books. */
@Injectable()
export class ContactMovesService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly db: Db,
  ) {}

  /** The contact keeps its id and, if it can, external_id and uid. @throws ApiError 404, 403, 409 `duplicate_external_id` */
  async move(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    body: Checked<MoveContact>,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    const { role } = await this.access.requireEditable(ctx, bookId, externalId);
    const { target_addressbook_id, on_conflict: policy } = body.value;
    const target = await this.target(ctx, target_addressbook_id, 1);
    return this.db.tx(async (tx) => {
      const [row] = await this.contacts.find(tx, ctx, bookId, 'external_id', [externalId]);
      if (!row) throw CONTACTS.notFound.with();
      if (target.id === bookId) return presentContact(row, role);
      const moved = await this.moveOne(tx, ctx, row, target, policy);
      if ('taken' in moved) throw duplicateError(ContactErrors.duplicateExternalId, moved.taken, target.role);
      await this.assertWithinLimit(tx, ctx, target);
      return presentContact(moved.row, target.role);
    });
  }

  /** @throws ApiError 404, 403 of the address books; errors of single contacts are listed */
  async moveMany(
    ctx: RequestContext,
    bookId: string,
    body: Checked<MoveContacts>,
  ): Promise<MovedContactsEnvelope> {
    const source = await this.access.requireWritable(ctx, bookId);
    const { contact_ids: named, all, target_addressbook_id, on_conflict: policy } = body.value;
    if ((named === undefined) === (all === undefined))
      throw fieldError('contact_ids', 'one_of', 'or all is needed, and only one of them');
    const target = await this.target(
      ctx,
      target_addressbook_id,
      named?.length ?? Math.min(source.contacts_count, MAX_MOVED),
    );
    const result: MovedContactsEnvelope = { moved: 0, skipped: [], errors: [], more: false };
    if (target.id === bookId) return result;
    if (named) {
      for (let at = 0; at < named.length; at += BATCH)
        await this.batch(ctx, source, target, policy, { names: named.slice(at, at + BATCH) }, result);
      return result;
    }
    let after: string | null = null;
    for (let seen = 0; seen < MAX_MOVED; seen += BATCH) {
      const ids: string[] = await this.contacts.idsAfter(this.db, ctx, bookId, after, BATCH);
      await this.batch(ctx, source, target, policy, { ids }, result);
      if (ids.length < BATCH) return result;
      after = ids.at(-1) as string;
    }
    result.more = (await this.contacts.idsAfter(this.db, ctx, bookId, after, 1)).length > 0;
    return result;
  }

  private async batch(
    ctx: RequestContext,
    source: AccessedBook,
    target: AccessedBook,
    policy: MovePolicy,
    { names, ids }: { names?: string[]; ids?: string[] },
    result: MovedContactsEnvelope,
  ): Promise<void> {
    // The transaction may be repeated, so its counts are added to the result afterwards.
    const { moved, skipped, errors } = await this.db.tx(async (tx) => {
      const part: Omit<MovedContactsEnvelope, 'more'> = { moved: 0, skipped: [], errors: [] };
      const column = names ? 'external_id' : 'id';
      const rows = await this.contacts.find(tx, ctx, source.id, column, names ?? ids ?? []);
      const found = new Set(rows.map((row) => row.external_id));
      for (const external_id of names ?? [])
        if (!found.has(external_id)) part.errors.push({ external_id, error: CONTACTS.notFound.code });
      for (const row of rows) {
        const { external_id } = row;
        if (!canEdit(source.role, row)) part.errors.push({ external_id, error: 'forbidden' });
        else if ('taken' in (await this.moveOne(tx, ctx, row, target, policy)))
          part.skipped.push(external_id);
        else part.moved += 1;
      }
      if (part.moved > 0) await this.assertWithinLimit(tx, ctx, target);
      return part;
    });
    result.moved += moved;
    result.skipped.push(...skipped.slice(0, MAX_NAMED - result.skipped.length));
    result.errors.push(...errors.slice(0, MAX_NAMED - result.errors.length));
  }

  /** After moves, which have locked the target. @throws ApiError 422 `addressbook_full` */
  private async assertWithinLimit(tx: Tx, ctx: RequestContext, target: AccessedBook): Promise<void> {
    const count = (await this.contacts.lockBook(tx, ctx, target.id)) ?? 0;
    if (count > QUOTAS.item.contacts_of_addressbook) throw ContactErrors.bookFull.with();
  }

  /** @returns the contact in the target, or the other one that has its external_id or uid */
  private async moveOne(
    tx: Tx,
    ctx: RequestContext,
    row: ContactRow,
    target: AccessedBook,
    policy: MovePolicy,
  ): Promise<{ row: ContactRow } | { taken: ContactRow }> {
    // This locks both address books.
    const moved = await this.contacts.move(tx, ctx, row, target.id);
    if (moved) return { row: moved };
    const byName = await this.contacts.find(tx, ctx, target.id, 'external_id', [row.external_id]);
    const byUid = await this.contacts.find(tx, ctx, target.id, 'uid', [row.uid]);
    const others = [...new Map([...byName, ...byUid].map((other) => [other.id, other])).values()];
    const [taken] = others;
    if (!taken) throw new ConcurrentChangeError('the contact has changed');
    if (policy === 'merge' && canEdit(target.role, taken) && canJoin(cardOf(taken), cardOf(row)))
      return { row: await this.merge(tx, ctx, row, taken) };
    if (policy === 'replace' && others.every((other) => canEdit(target.role, other))) {
      const ids = others.map(({ id }) => id);
      await this.contacts.remove(tx, ctx, target.id, ids);
      return { row: moveDone(await this.contacts.move(tx, ctx, row, target.id)) };
    }
    if (policy !== 'rename') return { taken };
    const externalId = byName.length > 0 ? uuidv7() : row.external_id;
    const uid = byUid.length > 0 ? uuidv7() : row.uid;
    return { row: moveDone(await this.contacts.move(tx, ctx, row, target.id, { externalId, uid })) };
  }

  private async merge(tx: Tx, ctx: RequestContext, row: ContactRow, into: ContactRow): Promise<ContactRow> {
    const before = cardOf(into);
    const card = checkCard(joinCards(before, cardOf(row)));
    const changed = differences(before, card);
    const photoId = into.photo_id ?? row.photo_id;
    const isChanged = changed.length > 0 || photoId !== into.photo_id;
    const values = isChanged ? [contactUpdate(into, card, changed, photoId)] : [];
    const [updated = into] = await this.contacts.update(tx, ctx, into.addressbook_id, values);
    const [removed] = await this.contacts.remove(tx, ctx, row.addressbook_id, [row.id]);
    // The row was read before the lock. If it has a newer revision, the transaction is repeated and merges that revision.
    if (removed?.revision !== row.revision) throw new ConcurrentChangeError('the contact has changed');
    return updated;
  }

  private async target(ctx: RequestContext, bookId: string, count: number): Promise<AccessedBook> {
    const target = await this.access.requireWritable(ctx, bookId.toLowerCase());
    if (target.contacts_count + count > QUOTAS.item.contacts_of_addressbook)
      throw ContactErrors.bookFull.with();
    return target;
  }
}

function moveDone(row: ContactRow | undefined): ContactRow {
  if (!row) throw new ConcurrentChangeError('the contact has changed');
  return row;
}

@Controller(CONTACTS.options.path)
export class ContactMovesController {
  constructor(private readonly moves: ContactMovesService) {}

  @Endpoint('POST :addressbook_id/contacts/:external_id/move', {
    tag: 'contacts',
    id: 'moveContact',
    summary: 'Move a contact to another address book',
    description: 'The contact keeps its id. The feed of the first address book delivers a removal.',
    response: [CONTACTS.envelopes.item, 'The contact in the target, or the contact it was merged into.'],
    etag: CONTACTS.kind,
    errors: [
      CONTACTS.notFound,
      ContactErrors.bookNotFound,
      Errors.forbidden,
      ContactErrors.duplicateExternalId,
      ContactErrors.bookFull,
    ],
  })
  move(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @CheckedBody(MoveContact) body: Checked<MoveContact>,
  ) {
    return this.moves.move(ctx, bookId, externalId, body);
  }

  @Endpoint('POST :id/move_contacts', {
    tag: 'contacts',
    id: 'moveContacts',
    summary: 'Move contacts out of an address book',
    description:
      'Moves the contacts in transactions of 200. After a failure, the contacts of the committed transactions remain in the target.',
    response: [MovedContactsEnvelope, 'The numbers of contacts, and those that stay.'],
    example: { target_addressbook_id: '01890a5d-ac96-774b-bcce-b302099a8057', contact_ids: ['phone-17'] },
    errors: [ContactErrors.bookNotFound, Errors.forbidden, ContactErrors.bookFull],
  })
  moveMany(
    @Ctx() ctx: RequestContext,
    @Id() bookId: string,
    @CheckedBody(MoveContacts) body: Checked<MoveContacts>,
  ): Promise<MovedContactsEnvelope> {
    return this.moves.moveMany(ctx, bookId, body);
  }
}
