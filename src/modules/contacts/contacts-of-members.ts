import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import type { PersonalArchive } from '../../platform/personal-data/personal-archive.js';
import {
  type DataOwner,
  PersonalData,
  PersonalDataSource,
} from '../../platform/personal-data/personal-data.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { AddressbooksRepository } from './books/addressbooks.repository.js';
import { ContactPhotos } from './contact-photos.js';
import { Addressbook } from './contacts.entity.js';
import { GlobalBook } from './global-book.js';
import { ExportRepository } from './phone/export.service.js';
import { type ContactRow, vcardText } from './responses/contact.presenter.js';

const lock = workspace.statement<Pick<Addressbook, 'id'>>(
  'addressbooks.lock_of_member',
  `SELECT id FROM addressbooks WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE`,
);

// The share of the new owner in a moved book is deleted. Moved books become personal and are not the default: the new owner keeps the
// own default and collected book.
const transfer = workspace.statement<Pick<Addressbook, 'id'>>(
  'addressbooks.transfer',
  `WITH moved AS (
     UPDATE addressbooks SET owner_id = $3, is_default = false, kind = 'personal', revision = revision + 1, updated_at = clock_timestamp()
      WHERE tenant_id = $1 AND owner_id = $2 RETURNING id),
   unshared AS (
     DELETE FROM addressbook_shares share USING moved
      WHERE share.tenant_id = $1 AND share.addressbook_id = moved.id AND share.user_id = $3)
   SELECT id FROM moved`,
);

/** The address books of a member, for a transfer to another member. Contacts, shares and feeds stay with their book. */
@Injectable()
export class AddressbooksOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly books: AddressbooksRepository,
  ) {
    super(contents, {
      kind: 'addressbooks',
      order: 70,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Addressbook).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  /** No user's own feed changes. */
  async lock(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<string[]> {
    for (const userId of [from, to].toSorted()) await this.books.lock(tx, { ...ctx, userId });
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    return (await tx.query(transfer, [ctx.tenantId, from, to])).length;
  }
}

const books = workspace.statement<never>(
  'contacts.personal_books',
  personalRows(`SELECT book.id, book.name, book.description, book.color, book.is_default, book.created_at, book.updated_at
       FROM addressbooks book WHERE book.tenant_id = $1 AND book.owner_id = $2 ORDER BY book.id`),
);
const contacts = workspace.statement<never>(
  'contacts.personal_contacts',
  personalRows(`SELECT contact.id, contact.addressbook_id, contact.uid, contact.kind, contact.card, contact.source, contact.created_at,
            contact.updated_at
       FROM addressbooks book JOIN contacts contact ON contact.tenant_id = book.tenant_id AND contact.addressbook_id = book.id
      WHERE book.tenant_id = $1 AND book.owner_id = $2 AND contact.gone_at IS NULL ORDER BY contact.addressbook_id, contact.seq`),
);
// The card in the address book of the workspace has fields that the profile lacks.
const ownCard = workspace.statement<never>(
  'contacts.personal_own_card',
  personalRows(`SELECT contact.id, contact.uid, contact.card, contact.created_at, contact.updated_at
       FROM contacts contact WHERE contact.tenant_id = $1 AND contact.linked_user_id = $2 AND contact.gone_at IS NULL`),
);
const addresses = workspace.statement<never>(
  'contacts.personal_addresses',
  personalRows(`SELECT received.address, received.name, received.count, received.last_seen_at
       FROM received_addresses received WHERE received.tenant_id = $1 AND received.user_id = $2 ORDER BY received.address_key`),
);
const ownedBooks = workspace.statement<Pick<Addressbook, 'id'>>(
  'contacts.personal_book_ids',
  `SELECT book.id FROM addressbooks book WHERE book.tenant_id = $1 AND book.owner_id = $2 ORDER BY book.id`,
);

const erasePrivateBooks = workspace.statement<never>(
  'contacts.erase_private_books',
  `WITH private AS (
     SELECT book.id FROM addressbooks book
      WHERE book.tenant_id = $1 AND book.owner_id = $2 AND NOT EXISTS (
        SELECT FROM addressbook_shares share WHERE share.tenant_id = $1 AND share.addressbook_id = book.id)),
   words AS (
     DELETE FROM contact_words USING private WHERE contact_words.tenant_id = $1 AND contact_words.addressbook_id = private.id)
   DELETE FROM addressbooks USING private WHERE addressbooks.tenant_id = $1 AND addressbooks.id = private.id`,
);

const eraseUserTables = eraseUserRows(
  'contacts',
  'received_addresses',
  'received_address_scans',
  'suppressed_addresses',
  'contact_imports',
  'contact_merges',
);

/** The address books and the own card of a user as JSON and, with photos, as vCard. */
@Injectable()
export class ContactsPersonalData extends PersonalDataSource {
  constructor(
    data: PersonalData,
    private readonly pages: ExportRepository,
    private readonly photos: ContactPhotos,
    private readonly global: GlobalBook,
    private readonly db: Db,
  ) {
    super(data, {
      name: 'contacts',
      rows: {
        'address-books.json': books,
        'contacts.json': contacts,
        'own-card.json': ownCard,
        'senders.json': addresses,
      },
      erasure: {
        rows: [erasePrivateBooks, ...eraseUserTables],
      },
    });
  }

  override async export(owner: DataOwner, archive: PersonalArchive): Promise<void> {
    await super.export(owner, archive);
    for (const { id } of await this.db.query(ownedBooks, [owner.tenantId, owner.userId]))
      await archive.content(`${id}.vcf`, this.cards(owner, id));
    const own = await this.global.cardOf(this.db, owner.tenantId, owner.userId);
    if (own) await archive.content('own-card.vcf', [await this.vcard(owner, own)]);
  }

  private async *cards(owner: DataOwner, bookId: string): AsyncGenerator<string> {
    for await (const rows of this.pages.pages(owner, { bookId, since: null, deviceId: null }))
      for (const row of rows) yield await this.vcard(owner, row);
  }

  private async vcard({ tenantId }: DataOwner, row: ContactRow): Promise<string> {
    return vcardText(row, '4.0', await this.photos.forCard(tenantId, row.photo_id));
  }
}
