import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { WalkProgress, WalkRow } from '../inbox-walk.js';
import type { MailOwner } from '../mail-client.js';
import type { MailArrivalScan } from '../mail.entity.js';

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
  async due(limit: number): Promise<ArrivalScan[]> {
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
