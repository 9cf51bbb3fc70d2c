import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Addressbook, SuppressedAddress } from '../contacts.entity.js';

const suppressed = workspace.statement<{ address_key: string }>(
  'contacts.suppressed',
  `SELECT address_key FROM suppressed_addresses WHERE tenant_id = $1 AND user_id = $2 AND address_key = ANY ($3)`,
);

const known = workspace.statement<{ word: string; contact_id: string; addressbook_id: string }>(
  'contacts.known_addresses',
  `SELECT DISTINCT ON (listed.word) listed.word, listed.contact_id, listed.addressbook_id
     FROM addressbooks book
     JOIN contact_words listed ON listed.tenant_id = $1 AND listed.addressbook_id = book.id AND listed.word = ANY ($3)
    WHERE book.tenant_id = $1 AND book.owner_id = $2
    ORDER BY listed.word, book.is_default DESC, book.kind = 'collected', listed.contact_id`,
);

const collected = workspace.statement<{ external_id: string }>(
  'contacts.collected_addresses',
  `SELECT contact.external_id
     FROM addressbooks book
     JOIN contacts contact ON contact.tenant_id = $1 AND contact.addressbook_id = book.id AND contact.external_id = ANY ($3)
      AND contact.gone_at IS NULL
    WHERE book.tenant_id = $1 AND book.owner_id = $2 AND book.kind = 'collected'`,
);

// Released at the end of the transaction. Taken before the rows of the book.
const lock = workspace.lock('contacts.lock_extracted', 'extracted addresses', 2);

const BOOK = { kind: 'collected', name: 'Collected' } as const;

/** SQL of the addresses that are extracted from mail. */
@Injectable()
export class ExtractedRepository {
  constructor(private readonly db: Db) {}

  /** The addresses among these that the caller has removed. */
  async suppressed(
    { tenantId, userId }: MemberKey,
    keys: readonly string[],
    reader: Reader = this.db,
  ): Promise<Set<string>> {
    const rows = await reader.query(suppressed, [tenantId, userId, keys]);
    return new Set(rows.map((row) => row.address_key));
  }

  async suppress(tx: Tx, { tenantId, userId }: MemberKey, key: string): Promise<void> {
    await rowsOf(tx, SuppressedAddress).insert({ tenant_id: tenantId, user_id: userId, address_key: key });
  }

  /** Serialises additions to the collected address book of a user with removals of addresses. */
  async lock(tx: Tx, { tenantId, userId }: MemberKey): Promise<void> {
    await tx.query(lock, [tenantId, userId]);
  }

  /** The id of the user's collected address book; null before its first address. */
  async findBook(tx: Tx, { tenantId, userId }: MemberKey): Promise<string | null> {
    const book = await rowsOf(tx, Addressbook).one({
      tenant_id: tenantId,
      owner_id: userId,
      kind: BOOK.kind,
    });
    return book?.id ?? null;
  }

  /** The id of the user's collected address book, which is created if necessary. Needs the lock. */
  async book(tx: Tx, owner: MemberKey): Promise<string> {
    const { tenantId, userId } = owner;
    const found = await this.findBook(tx, owner);
    if (found !== null) return found;
    const id = uuidv7();
    await rowsOf(tx, Addressbook).insert({ tenant_id: tenantId, owner_id: userId, id, ...BOOK });
    return id;
  }

  /** The keys among these for which the collected address book has a contact, even one with another address now. */
  async collected({ tenantId, userId }: MemberKey, keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.query(collected, [tenantId, userId, keys]);
    return new Set(rows.map((row) => row.external_id));
  }

  /** Contacts in the caller's own address books by the key of their address. */
  async known(
    { tenantId, userId }: MemberKey,
    keys: readonly string[],
  ): Promise<Map<string, { contact_id: string; addressbook_id: string }>> {
    const rows = await this.db.query(known, [tenantId, userId, keys]);
    return new Map(rows.map(({ word, ...contact }) => [word, contact]));
  }
}
