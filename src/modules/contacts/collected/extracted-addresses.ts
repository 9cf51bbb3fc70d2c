import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { emailKey } from '../../../lib/contact-card/index.js';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { RecipientsApi } from '../../mail/index.js';
import { Addressbook, SuppressedAddress, type ContactWord, type Contact } from '../contacts.entity.js';
import type { AddressSource } from './extracted.dto.js';
import { ReceivedRepository, type SeenAddress } from './received.repository.js';

const suppressed = workspace.statement<Pick<SuppressedAddress, 'address_key'>>(
  'contacts.suppressed',
  `SELECT address_key FROM suppressed_addresses WHERE tenant_id = $1 AND user_id = $2 AND address_key = ANY ($3)`,
);

const known = workspace.statement<Pick<ContactWord, 'word' | 'contact_id' | 'addressbook_id'>>(
  'contacts.known_addresses',
  `SELECT DISTINCT ON (listed.word) listed.word, listed.contact_id, listed.addressbook_id
     FROM addressbooks book
     JOIN contact_words listed ON listed.tenant_id = $1 AND listed.addressbook_id = book.id AND listed.word = ANY ($3)
    WHERE book.tenant_id = $1 AND book.owner_id = $2
    ORDER BY listed.word, book.is_default DESC, book.kind = 'collected', listed.contact_id`,
);

const collected = workspace.statement<Pick<Contact, 'external_id'>>(
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
  async findSuppressed(
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
  async findCollected({ tenantId, userId }: MemberKey, keys: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.query(collected, [tenantId, userId, keys]);
    return new Set(rows.map((row) => row.external_id));
  }

  /** Contacts in the caller's own address books by the key of their address. */
  async findKnown(
    { tenantId, userId }: MemberKey,
    keys: readonly string[],
  ): Promise<Map<string, { contact_id: string; addressbook_id: string }>> {
    const rows = await this.db.query(known, [tenantId, userId, keys]);
    return new Map(rows.map(({ word, ...contact }) => [word, contact]));
  }
}

const BATCH = 500;
/** Addresses of one source. */
const MAX_ADDRESSES = 2_000;

/** An address with its use in all sources. */
export interface ExtractedAddress extends SeenAddress {
  key: string;
  sources: AddressSource[];
  /** Frequency and recency: a use weighs half after 30 days. Independent of the current time, so that the pages of a list agree. */
  rank: number;
}

/** Addresses of a user's messages and events, without those that the user removed. */
@Injectable()
export class ExtractedAddresses {
  constructor(
    private readonly extracted: ExtractedRepository,
    private readonly seen: ReceivedRepository,
    private readonly recipients: RecipientsApi,
  ) {}

  /** Frequent and recent addresses first. */
  async extract(owner: MemberKey): Promise<ExtractedAddress[]> {
    const sources: [AddressSource, SeenAddress[]][] = [
      ['sent', await this.sent(owner)],
      ['received', await this.seen.readReceived(owner)],
      ['calendar', await this.seen.readInvited(owner)],
    ];
    const joined = new Map<string, ExtractedAddress>();
    for (const [source, addresses] of sources)
      for (const address of addresses) {
        const key = emailKey(address.address);
        if (key !== null) joined.set(key, withSource(joined.get(key), key, source, address));
      }
    const removed = await this.extracted.findSuppressed(owner, [...joined.keys()]);
    return [...joined.values()].filter(({ key }) => !removed.has(key)).toSorted(compareAddresses);
  }

  private async sent(owner: MemberKey): Promise<SeenAddress[]> {
    const rows: SeenAddress[] = [];
    for (let after = null; rows.length < MAX_ADDRESSES;) {
      const batch = await this.recipients.list(owner, after, BATCH);
      rows.push(
        ...batch.map(({ uses, last_used_at, ...row }) => ({
          ...row,
          count: uses,
          last_seen_at: last_used_at,
        })),
      );
      if (batch.length < BATCH) break;
      after = batch.at(-1) as never;
    }
    return rows;
  }
}

const HALF_LIFE_MS = 30 * 86_400_000;

/** Exponents of two. Received messages weigh a quarter, because many come from mailing lists and programs. */
const WEIGHT: Record<AddressSource, number> = { sent: 0, received: -2, calendar: 0 };

function withSource(
  known: ExtractedAddress | undefined,
  key: string,
  source: AddressSource,
  { address, name, count, last_seen_at }: SeenAddress,
): ExtractedAddress {
  const rank = last_seen_at.getTime() / HALF_LIFE_MS + Math.log2(count) + WEIGHT[source];
  if (!known) return { key, address, name, count, last_seen_at, sources: [source], rank };
  const high = Math.max(rank, known.rank);
  return {
    ...known,
    name: known.name || name,
    count: known.count + count,
    last_seen_at: known.last_seen_at > last_seen_at ? known.last_seen_at : last_seen_at,
    sources: [...known.sources, source],
    rank: high + Math.log2(1 + 2 ** -Math.abs(rank - known.rank)),
  };
}

/** Order of the list. */
export const compareAddresses = (
  one: Pick<ExtractedAddress, 'rank' | 'key'>,
  other: Pick<ExtractedAddress, 'rank' | 'key'>,
): number => other.rank - one.rank || (one.key < other.key ? -1 : Number(one.key > other.key));
