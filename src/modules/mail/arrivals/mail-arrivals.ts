import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { inParallel } from '../../../platform/jobs/in-parallel.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { newMessages, progressAfter } from '../inbox-walk.js';
import type { Fields } from '../input/fields.js';
import { inboxOf, MailClient } from '../mail-client.js';
import { type ArrivalScan, MAIL_RECEIVED, MailArrivalsRepository } from './mail-arrivals.repository.js';

const INTERVAL_SECONDS = 10;
/** Users of one run, and those whose inboxes are read at the same time. */
const USERS_PER_RUN = 200;
const CONCURRENCY = 4;

/**
 * Appends an event for each mail that arrives in the inbox of a user who wants them (`EventInterests`), of the embedded mail service and of
 * another one. A mail that arrived after the interest is reported at least once; one that is moved into the inbox is not.
 */
@Injectable()
export class MailArrivals implements OnModuleInit {
  private readonly logger = new Logger('Mail');
  /** `messages` per request, `pages`: requests per user and run. */
  readonly limits = { messages: 50, pages: 10 };

  constructor(
    private readonly client: MailClient,
    private readonly repository: MailArrivalsRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.mailService === null) return;
    this.jobs.register({
      name: 'mail-arrivals',
      everySeconds: INTERVAL_SECONDS,
      queue: 'mail',
      run: () => this.run(),
    });
  }

  async run(): Promise<void> {
    await this.repository.forget();
    const due = await this.repository.due(USERS_PER_RUN);
    await inParallel(due, CONCURRENCY, (scan) => this.searchOrPostpone(scan));
  }

  private async searchOrPostpone(scan: ArrivalScan): Promise<void> {
    try {
      await this.search(scan);
    } catch (error) {
      const owner = { tenantId: scan.tenant_id, userId: scan.user_id };
      this.logger.warn({ err: error, ...owner }, 'the search for arrived mail failed');
      await this.db.single((tx) =>
        this.repository.save(tx, owner, progressAfter(error, scan), scan.last_arrival),
      );
    }
  }

  private async search(scan: ArrivalScan): Promise<void> {
    const owner = { tenantId: scan.tenant_id, userId: scan.user_id };
    const session = this.client.background(owner);
    const mailbox = scan.mailbox ?? (await inboxOf(session));
    const row = scan.mailbox === null ? { ...scan, last_message: null, next_page: null } : scan;
    const { progress, found } = await newMessages(session, mailbox, row, this.limits, (message) =>
      hasArrived(message, scan),
    );
    const arrivals = found.flatMap((message) => arrivalOf(message) ?? []);
    const newest = Math.max(scan.last_arrival?.getTime() ?? 0, ...arrivals.map((time) => time.getTime()));
    // Older pages of a search in progress have earlier arrivals.
    const lastArrival = progress.walk || newest === 0 ? scan.last_arrival : new Date(newest);
    await this.db.tx(async (tx) => {
      for (const { id } of found)
        await this.outbox.append(tx, {
          tenantId: owner.tenantId,
          type: MAIL_RECEIVED,
          payload: { user_id: owner.userId, mailbox, message_id: Number(id) },
        });
      await this.repository.save(tx, owner, progress, lastArrival);
    });
  }
}

/** The time at which the mail service got a message; null: it does not report it. */
function arrivalOf({ idate }: Fields): Date | null {
  const time = new Date(typeof idate === 'string' ? idate : Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** Whether a message with an unknown id is new in the service. Without its time, only those after the first search are. */
function hasArrived(message: Fields, { since, last_arrival: last, mailbox }: ArrivalScan): boolean {
  const arrival = arrivalOf(message);
  return arrival === null ? mailbox !== null : arrival >= since && (last === null || arrival >= last);
}
