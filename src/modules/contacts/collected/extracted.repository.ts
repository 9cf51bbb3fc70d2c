import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { Owner } from './received.repository.js';

const suppressed = workspace.statement<{ address_key: string }>(
  'contacts.suppressed',
  `SELECT address_key FROM suppressed_addresses WHERE tenant_id = $1 AND user_id = $2 AND address_key = ANY ($3)`,
);

const suppress = workspace.statement<never>(
  'contacts.suppress',
  `INSERT INTO suppressed_addresses (tenant_id, user_id, address_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
);

const known = workspace.statement<{ word: string; contact_id: string; addressbook_id: string }>(
  'contacts.known_addresses',
  `SELECT DISTINCT ON (listed.word) listed.word, listed.contact_id, listed.addressbook_id
     FROM addressbooks book
     JOIN contact_words listed ON listed.tenant_id = $1 AND listed.addressbook_id = book.id AND listed.word = ANY ($3)
    WHERE book.tenant_id = $1 AND book.owner_id = $2
    ORDER BY listed.word, book.is_default DESC, book.kind = 'collected', listed.contact_id`,
);

// Released at the end of the transaction. Taken before the rows of the book.
const lock = workspace.statement<never>(
  'contacts.lock_extracted',
  `SELECT pg_advisory_xact_lock(hashtextextended('extracted addresses ' || $1::uuid || ' ' || $2::uuid, 0))`,
);

const collectedBook = workspace.statement<{ id: string }>(
  'contacts.collected_book',
  `SELECT id FROM addressbooks WHERE tenant_id = $1 AND owner_id = $2 AND kind = 'collected'`,
);

const createBook = workspace.statement<{ id: string }>(
  'contacts.create_collected_book',
  `INSERT INTO addressbooks (tenant_id, owner_id, id, kind, name) VALUES ($1, $2, $3, 'collected', $4) RETURNING id`,
);

const BOOK_NAME = 'Collected';

/** SQL of the addresses that are extracted from mail. */
@Injectable()
export class ExtractedRepository {
  constructor(private readonly db: Db) {}

  /** Those of the addresses that the caller has removed. */
  async suppressed(
    { tenantId, userId }: Owner,
    keys: readonly string[],
    reader: Reader = this.db,
  ): Promise<Set<string>> {
    const rows = await reader.query(suppressed, [tenantId, userId, keys]);
    return new Set(rows.map((row) => row.address_key));
  }

  async suppress(tx: Tx, { tenantId, userId }: Owner, key: string): Promise<void> {
    await tx.query(suppress, [tenantId, userId, key]);
  }

  /** Serialises additions to the collected address book of a user with removals of addresses. */
  async lock(tx: Tx, { tenantId, userId }: Owner): Promise<void> {
    await tx.query(lock, [tenantId, userId]);
  }

  /** The id of the user's collected address book; null before its first address. */
  async findBook(tx: Tx, { tenantId, userId }: Owner): Promise<string | null> {
    return (await tx.query(collectedBook, [tenantId, userId]))[0]?.id ?? null;
  }

  /** The id of the user's collected address book, which is created if necessary. Needs the lock. */
  async book(tx: Tx, owner: Owner): Promise<string> {
    const { tenantId, userId } = owner;
    const found = await this.findBook(tx, owner);
    if (found !== null) return found;
    const [created] = await tx.query(createBook, [tenantId, userId, uuidv7(), BOOK_NAME]);
    return (created as { id: string }).id;
  }

  /** Contacts in the caller's own address books by the key of their address. */
  async known(
    { tenantId, userId }: Owner,
    keys: readonly string[],
  ): Promise<Map<string, { contact_id: string; addressbook_id: string }>> {
    const rows = await this.db.query(known, [tenantId, userId, keys]);
    return new Map(rows.map(({ word, ...contact }) => [word, contact]));
  }
}
