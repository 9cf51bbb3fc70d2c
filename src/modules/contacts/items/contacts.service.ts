import { Injectable } from '@nestjs/common';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { type AccessedBook, AddressbookAccess } from '../addressbook-access.js';
import {
  type ContactCard,
  joinCards,
  differences,
  patchCard,
  canJoin,
  identityKeys,
} from '../../../lib/contact-card/index.js';
import {
  checkCard,
  newContactCard,
  contactInsert,
  contactUpdate,
  type ContactInsert,
} from '../model/contact-values.js';
import { type CreateContact, phoneCountry, type UpdateContact } from '../input/contact.dto.js';
import {
  canEdit,
  cardOf,
  contactJson,
  type ContactRow,
  duplicateError,
  presentContact,
} from '../responses/contact.presenter.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import { ContactsRepository } from '../contacts.repository.js';
import type { CreatedContactEnvelope } from '../responses/contact.response.js';

const MAX_DUPLICATES = 20;
const MAX_ATTEMPTS = 5;

type Duplicates = Pick<CreatedContactEnvelope, 'possible_duplicates'>;

/** Contacts of the address books that a caller sees. */
@Injectable()
export class ContactsService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404, 403, 409 `duplicate_external_id`, `duplicate_uid`, `duplicate_contact`, 422 */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    bookId: string,
    body: Checked<CreateContact>,
  ): Promise<JsonReply<CreatedContactEnvelope>> {
    const book = await this.access.requireWritable(ctx, bookId);
    const { external_id: externalId, uid, default_country, on_duplicate, ...fields } = body.value;
    const card = newContactCard(fields, phoneCountry(default_country ?? book.default_country));
    const values = contactInsert(card, { externalId, uid });
    return this.writes.run(ctx, key, async (tx) => {
      // Without a key the write is a transaction of one statement, which cannot read (Db.single).
      const reader = key === null ? this.db : tx;
      const found = await this.contacts.withKeys(reader, ctx, bookId, identityKeys(card), MAX_DUPLICATES);
      const similar = found.filter((row) => canJoin(card, cardOf(row)));
      const same = similar.filter(({ shared }) => shared.some((each) => !each.startsWith('=')));
      const into = on_duplicate === 'merge' ? same.find((each) => canEdit(book.role, each)) : undefined;
      if (into) return this.merged(tx, ctx, book, into, card);
      if (same[0] && on_duplicate !== 'create')
        throw duplicateError(ContactErrors.duplicateContact, same[0], book.role);
      const row = await this.contacts.insertWithin(
        tx,
        ctx,
        bookId,
        values,
        QUOTAS.item.contacts_of_addressbook,
      );
      if (!row) throw await this.taken(reader, ctx, book, values);
      const duplicates = similar.map((other) => {
        const { id, external_id, card: json } = other;
        return { id, external_id, full_name: cardOf({ card: json }).full_name };
      });
      return presentContact(row, book.role, { status: 201, extra: { possible_duplicates: duplicates } });
    });
  }

  /** Writes nothing without a difference. @throws ApiError 404, 403, 409 `conflict`, 422 */
  async update(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    expected: ExpectedRevision,
    body: Checked<UpdateContact>,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    return this.retrying(async () => {
      const { row, role, country } = await this.access.requireEditable(ctx, bookId, externalId);
      await CONTACTS.checkWrite(row, expected, body, () => contactJson(row, role));
      const { default_country, base_revision: _, ...fields } = body.value;
      const before = cardOf(row);
      const card = checkCard(patchCard(fields, before, phoneCountry(default_country ?? country)));
      const changed = differences(before, card);
      if (changed.length === 0) return presentContact(row, role);
      const values = contactUpdate(row, card, changed);
      const [after] = await this.db.single((tx) => this.contacts.update(tx, ctx, bookId, [values]));
      return after && presentContact(after, role);
    });
  }

  /** @throws ApiError 404, 403, 409 `conflict` */
  async delete(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof CONTACTS, 'deleted'>> {
    // Reads the role before the transaction, because this may need another connection.
    const { role } = await this.access.requireEditable(ctx, bookId, externalId);
    return this.db.tx(async (tx) => {
      const [row] = await this.contacts.find(tx, ctx, bookId, 'external_id', [externalId]);
      if (!row) throw CONTACTS.notFound.with();
      await CONTACTS.checkWrite(row, expected, null, () => contactJson(row, role));
      const [removed] = await this.contacts.remove(tx, ctx, bookId, [row.id]);
      // The row is locked only now. If it has a newer revision, the transaction is repeated and checks that revision.
      if (removed?.revision !== row.revision) throw new ConcurrentChangeError('the contact has changed');
      return CONTACTS.deleted(contactJson(removed, role));
    });
  }

  /** Adds the fields of a card to a contact. */
  private async merged(
    tx: Tx,
    ctx: RequestContext,
    { id, role }: AccessedBook,
    row: ContactRow,
    card: ContactCard,
  ): Promise<JsonReply<CreatedContactEnvelope>> {
    const before = cardOf(row);
    const after = checkCard(joinCards(before, card));
    const changed = differences(before, after);
    if (changed.length === 0)
      return presentContact<Duplicates>(row, role, { extra: { possible_duplicates: [] } });
    const [updated] = await this.contacts.update(tx, ctx, id, [contactUpdate(row, after, changed)]);
    if (!updated) throw new ConcurrentChangeError('the contact has changed');
    return presentContact<Duplicates>(updated, role, { extra: { possible_duplicates: [] } });
  }

  /** The error of a contact whose external_id or uid is taken. */
  private async taken(
    reader: Reader,
    ctx: RequestContext,
    book: AccessedBook,
    values: ContactInsert,
  ): Promise<ApiError> {
    const [byId] = await this.contacts.find(reader, ctx, book.id, 'external_id', [values.external_id]);
    if (byId) return duplicateError(ContactErrors.duplicateExternalId, byId, book.role);
    const [byUid] = await this.contacts.find(reader, ctx, book.id, 'uid', [values.uid]);
    if (byUid) return duplicateError(ContactErrors.duplicateUid, byUid, book.role);
    const { contacts_count: count } = await this.access.requireReadable(ctx, book.id, reader);
    if (count >= QUOTAS.item.contacts_of_addressbook) return ContactErrors.bookFull.with();
    // The other contact was deleted meanwhile: the write is repeated.
    throw new ConcurrentChangeError('the contact with this external_id or uid was deleted');
  }

  /** Repeats an optimistic write. @param attempt undefined: another write came first */
  private async retrying<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (let n = 0; n < MAX_ATTEMPTS; n += 1) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
  }
}
