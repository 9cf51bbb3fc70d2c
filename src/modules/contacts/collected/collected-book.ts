import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { emailKey, emptyCard, patchCard } from '../../../lib/contact-card/index.js';
import { cutText } from '../../../lib/text/index.js';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { inParallel } from '../../../platform/jobs/claim-loop.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemFailures } from '../../../platform/jobs/sweep.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { ReceivedMailApi, type Sender } from '../../mail/index.js';
import { ContactsRepository } from '../contacts.repository.js';
import { type ContactInsert, contactInsert } from '../model/contact-values.js';
import { cardOf, type ContactRow } from '../responses/contact.presenter.js';
import { type ExtractedAddress, ExtractedAddresses, ExtractedRepository } from './extracted-addresses.js';
import { type InboxScan, ReceivedRepository, type SeenAddress } from './received.repository.js';

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
    const used = (await this.addresses.extract(owner)).filter(isCollected);
    const known = await this.extracted.findKnown(
      owner,
      used.map(({ key }) => key),
    );
    const unknown = used.filter(({ key }) => !known.has(key));
    if (unknown.length === 0) return;
    const collected = await this.extracted.findCollected(
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
      const removed = await this.extracted.findSuppressed(owner, keys, tx);
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
  const card = patchCard(
    {
      full_name: cutText(name, MAX_NAME) || null,
      emails: [{ value: address, primary: true }],
    },
    emptyCard(),
    null,
  );
  return contactInsert(card, { externalId: key, source: 'extracted' });
}

const EVERY_SECONDS = 30;
/** Users of one run. */
const USERS_PER_RUN = 50;
/** Users that are handled at the same time. */
const CONCURRENCY = 4;
/** Seconds between two runs for one user. */
const INTERVAL_SECONDS = 300;

/**
 * Counts the senders of received messages in the background, and brings collected address books up to date. Each run handles a
 * limited number of users, the least recently handled ones first, and reads only the messages that are newer than the last read one.
 */
@Injectable()
export class AddressCollector implements OnModuleInit {
  private readonly logger = new Logger('Contacts');

  constructor(
    private readonly mail: ReceivedMailApi,
    private readonly repository: ReceivedRepository,
    private readonly book: CollectedBook,
    private readonly jobs: PeriodicJobs,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'received-addresses',
      everySeconds: EVERY_SECONDS,
      queue: 'mail',
      run: () => this.run(),
    });
  }

  async run(): Promise<void> {
    const due = await this.repository.listDue(INTERVAL_SECONDS, USERS_PER_RUN);
    const failures = new ItemFailures(this.logger, 'the collection of the addresses of a user');
    try {
      await inParallel(due, CONCURRENCY, (scan) =>
        failures.guard(ownerOf(scan), async () => {
          await this.read(scan);
          await this.book.update(ownerOf(scan));
        }),
      );
    } finally {
      failures.report();
    }
  }

  /** Without a mailbox, and when the mail service fails, the counted addresses stay as they are until the next read. */
  private async read(scan: InboxScan): Promise<void> {
    const owner = ownerOf(scan);
    if (this.config.mailService === null) return this.repository.postpone(owner);
    try {
      const part = await this.mail.senders(owner, scan.mailbox, scan.newest ?? 0);
      await this.repository.count(owner, countSenders(part.senders), part, scan);
    } catch (error) {
      this.logger.debug({ err: error, ...owner }, 'an inbox was not read; a later run reads it again');
      await this.repository.postpone(owner);
    }
  }
}

const ownerOf = ({ tenant_id: tenantId, user_id: userId }: InboxScan): MemberKey => ({ tenantId, userId });

/** @param senders newest message first */
function countSenders(senders: readonly Sender[]): Map<string, SeenAddress> {
  const seen = new Map<string, SeenAddress>();
  for (const { address, name, date } of senders) {
    const key = emailKey(address);
    if (key === null) continue;
    const known = seen.get(key) ?? { address, name, count: 0, last_seen_at: date };
    const last_seen_at = known.last_seen_at > date ? known.last_seen_at : date;
    seen.set(key, { ...known, name: known.name || name, count: known.count + 1, last_seen_at });
  }
  return seen;
}
