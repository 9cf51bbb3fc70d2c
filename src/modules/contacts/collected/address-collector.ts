import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Config } from '../../../config/config.js';
import { emailKey } from '../../../lib/contact-card/index.js';
import { inParallel } from '../../../platform/jobs/in-parallel.js';
import { ItemFailures } from '../../../platform/jobs/item-failures.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ReceivedMailApi, type Sender } from '../../mail/index.js';
import { CollectedBook } from './collected-book.js';
import { type InboxScan, ReceivedRepository, type SeenAddress } from './received.repository.js';

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
    const due = await this.repository.due(INTERVAL_SECONDS, USERS_PER_RUN);
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
      await this.repository.count(owner, counted(part.senders), part, scan);
    } catch (error) {
      this.logger.debug({ err: error, ...owner }, 'an inbox was not read; a later run reads it again');
      await this.repository.postpone(owner);
    }
  }
}

const ownerOf = ({ tenant_id: tenantId, user_id: userId }: InboxScan): MemberKey => ({ tenantId, userId });

/** @param senders newest message first */
function counted(senders: readonly Sender[]): Map<string, SeenAddress> {
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
