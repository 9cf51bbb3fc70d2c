import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { inParallel } from '../../../platform/jobs/claim-loop.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { newMessages, progressAfter, type WalkProgress, type WalkRow } from '../inbox-walk.js';
import type { Fields } from '../input/fields.js';
import { inboxOf, MailClient, type MailOwner } from '../mail-client.js';
import type { MailArrivalScan } from '../mail.schema.js';

/** Type of the outbox event for a mail that arrived in the inbox of a user. */
export const MAIL_RECEIVED = 'mail.received';

/** A user who wants events of arrived mail. */
export interface ArrivalScan
  extends WalkRow, Pick<MailArrivalScan, 'tenant_id' | 'user_id' | 'last_arrival'> {
  /** Since then the user wants them. */
  since: Date;
}

const due = workspace.statement<ArrivalScan>(
  'mail.arrival_scans_due',
  `SELECT interest.tenant_id, interest.user_id, interest.since, scan.mailbox, scan.last_message, scan.last_arrival, scan.next_page,
          scan.newest_message
     FROM (SELECT tenant_id, user_id, min(created_at) AS since FROM event_interests
            WHERE type = '${MAIL_RECEIVED}' AND user_id IS NOT NULL GROUP BY tenant_id, user_id) interest
     JOIN mail_accounts account ON account.tenant_id = interest.tenant_id AND account.user_id = interest.user_id
     JOIN member_profiles member
       ON member.tenant_id = interest.tenant_id AND member.user_id = interest.user_id AND member.status = 'active'
     LEFT JOIN mail_arrival_scans scan ON scan.tenant_id = interest.tenant_id AND scan.user_id = interest.user_id
    WHERE account.mail_user_id IS NOT NULL
    ORDER BY scan.scanned_at NULLS FIRST LIMIT $1`,
  { reach: 'cell' },
);

const save = workspace.statement<never>(
  'mail.arrival_scan_save',
  `INSERT INTO mail_arrival_scans (tenant_id, user_id, mailbox, last_message, last_arrival, next_page, newest_message, scanned_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, now())
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET mailbox = excluded.mailbox, last_message = excluded.last_message, last_arrival = excluded.last_arrival,
         next_page = excluded.next_page, newest_message = excluded.newest_message, scanned_at = now()`,
);

// A later interest begins anew.
const forget = workspace.statement<never>(
  'mail.forget_arrival_scans',
  `DELETE FROM mail_arrival_scans scan
    WHERE NOT EXISTS (
      SELECT FROM event_interests interest
       WHERE interest.type = '${MAIL_RECEIVED}' AND interest.tenant_id = scan.tenant_id AND interest.user_id = scan.user_id)`,
  { reach: 'cell' },
);

/** SQL of the search for arrived mail. */
@Injectable()
export class MailArrivalsRepository {
  constructor(private readonly db: Db) {}

  /** The users who have waited longest. */
  async listDue(limit: number): Promise<ArrivalScan[]> {
    return this.db.query(due, [limit]);
  }

  async save(
    tx: Tx,
    { tenantId, userId }: MailOwner,
    { mailbox, lastMessage, walk }: WalkProgress,
    lastArrival: Date | null,
  ): Promise<void> {
    const { nextPage = null, newest = null } = walk ?? {};
    await tx.query(save, [tenantId, userId, mailbox, lastMessage, lastArrival, nextPage, newest]);
  }

  /** Forgets the progress for users who want no more events. */
  async forget(): Promise<void> {
    await this.db.single((tx) => tx.query(forget, []));
  }
}

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
    const due = await this.repository.listDue(USERS_PER_RUN);
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
    const session = this.client.openBackground(owner);
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
