import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { emptyCard, written } from '../../../lib/contact-card/index.js';
import { Db } from '../../../platform/database/db.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { ContactsRepository } from '../contacts.repository.js';
import { type ContactInsert, contactInsert } from '../model/contact-values.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { type ExtractedAddress, ExtractedAddresses } from './extracted-addresses.js';
import { ExtractedRepository } from './extracted.repository.js';
import { cutText } from '../../../lib/text/index.js';

/** Maximum number of addresses that one update adds. */
const PER_UPDATE = 200;
/** Characters of an external_id. */
const MAX_KEY = 255;
const MAX_NAME = 255;

/**
 * The collected address book of a user: a contact for each address to which the user wrote, and for each participant of the
 * user's events, unless another own address book has the address. Senders alone are not collected: many are mailing lists.
 */
@Injectable()
export class CollectedBook {
  constructor(
    private readonly addresses: ExtractedAddresses,
    private readonly extracted: ExtractedRepository,
    private readonly contacts: ContactsRepository,
    private readonly db: Db,
  ) {}

  /**
   * Adds the addresses that no own address book has. The first one creates the book. An address that the user has replaced in its
   * collected contact is not added again.
   */
  async update(owner: MemberKey): Promise<void> {
    const used = (await this.addresses.of(owner)).filter(isCollected);
    const known = await this.extracted.known(
      owner,
      used.map(({ key }) => key),
    );
    const unknown = used.filter(({ key }) => !known.has(key));
    if (unknown.length === 0) return;
    const collected = await this.extracted.collected(
      owner,
      unknown.map(({ key }) => key),
    );
    const missing = unknown.filter(({ key }) => !collected.has(key)).slice(0, PER_UPDATE);
    if (missing.length === 0) return;
    const keys = missing.map(({ key }) => key);
    await this.db.tx(async (tx) => {
      await this.extracted.lock(tx, owner);
      const bookId = await this.extracted.book(tx, owner);
      const count = (await this.contacts.lockBook(tx, owner, bookId)) ?? 0;
      const removed = await this.extracted.suppressed(owner, keys, tx);
      const contacts = missing.filter(({ key }) => !removed.has(key)).map(contactOf);
      const capacity = Math.max(0, QUOTAS.item.contacts_of_addressbook - count);
      await this.contacts.insertMany(tx, owner, bookId, contacts.slice(0, capacity));
    });
  }

  /** Removes an address for ever, and its contact, unless the user changed it. @param key from `emailKey` */
  async suppress(owner: MemberKey, key: string): Promise<void> {
    await this.db.tx(async (tx) => {
      await this.extracted.lock(tx, owner);
      await this.extracted.suppress(tx, owner, key);
      const bookId = await this.extracted.findBook(tx, owner);
      if (bookId === null) return;
      const found = await this.contacts.find(tx, owner, bookId, 'external_id', [key]);
      const unchanged = found.filter((row) => row.source === 'extracted' && isUnchanged(row));
      await this.contacts.remove(
        tx,
        owner,
        bookId,
        unchanged.map(({ id }) => id),
      );
    });
  }
}

const isCollected = ({ key, sources }: ExtractedAddress): boolean =>
  key.length <= MAX_KEY && sources.some((source) => source !== 'received');

/**
 * Whether no field has changed since the creation of the contact. One that continues the revisions of a deleted contact has its first
 * revision for each field.
 */
function isUnchanged(row: ContactRow): boolean {
  const { field_revisions: revisions, revision } = row;
  const fields = Object.keys(revisions).length === 0 ? [] : Object.keys(cardOf(row));
  return fields.every((field) => revisions[field] === revision);
}

function contactOf({ key, address, name }: ExtractedAddress): ContactInsert {
  const card = written(
    {
      full_name: cutText(name, MAX_NAME) || null,
      emails: [{ value: address, primary: true }],
    },
    emptyCard(),
    null,
  );
  return contactInsert(card, { externalId: key, source: 'extracted' });
}
